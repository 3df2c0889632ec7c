"""A SIMT machine over NumPy arrays: kernels of GPU text run, checked and stepped without a GPU.

- `program.py`: what a front end hands to the machine. A front end is a function from text to a
  `Code`; `ptx/` is one. The machine knows no language.
- `flow.py`: basic blocks, immediate post-dominators, lifetimes of a `Code`'s registers.
- `prepare.py`: from a `Code` to steps, once per kernel.
- `state.py`: a `Launch`, and the threads of a batch of blocks: registers, masks, memory.
- `steps.py`: each instruction as a closure over arrays; `access.py` loads and stores, `places.py`
  where their addresses lead; `copies.py` asynchronous copies, which arrive at a wait;
  `matrices.py` loads that a warp does together.
- `machine.py`: `execute(prepare(code), launch)`: all blocks, batch by batch, divergence by masks.
- `memory.py`: regions of global memory with addresses; `allocator.py` hands them out.
- `faults.py`: errors with line, block, thread and node; `races.py` those between threads.
- `banks.py`: what memory makes of one access: banks, wavefronts, sectors. `counters.py`: what each
  line did: threads, bytes, bank conflicts, sectors, divergence.
- `session.py`: one instruction at a time, forwards and backwards, for debuggers.
- `alu/`: what instructions compute, as functions on arrays, shared by all front ends.
- `ptx/`: the front end for PTX, `llvm/` that for the LLVM IR of AMD GPUs. `device.py`: the devices,
  a row per front end.
"""
