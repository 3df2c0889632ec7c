"""CUDA devices over a driver that does nothing before somebody waits: memory, kernels, streams,
graphs, several GPUs, and what is said when something goes wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from core.capture.jit import TinyJit
from core.compile import compile_kernel
from core.dtype import dtypes
from core.errors import CompileError, DeviceError, DriverError, RunError
from core.helpers import Context
from core.isolation.edited import Edited
from core.isolation.isolate import RunResult
from core.isolation.worker import try_kernel
from core.launch.run import copy_buffer
from core.runtime.allocator import Place
from core.runtime.base import values_of
from core.runtime.buffer import Buffer
from core.runtime.counters import GlobalCounters
from core.runtime.cuda import api
from core.runtime.cuda.device import capability, target_for
from core.runtime.cuda.driver import CudaDriver
from core.runtime.device import Device
from core.runtime.gpu.launch import GpuRunner
from core.runtime.gpu.queue import Queue
from core.target import targets
from core.tensor import Tensor
from tests.core.runtime.asts import add
from tests.core.runtime.gpu.fake_cuda import CUresult, FakeCuda, FaultError
from tests.core.runtime.gpu.grids import check_grids

N = 12


def ones(fake: FakeCuda, values: list[int]) -> None:
    """data0[i] = data1[i] + 1 over float32."""
    out, data = values[:2]
    found = np.frombuffer(bytes(fake.bytes_at(data, 4 * N)), np.float32) + 1
    fake.bytes_at(out, 4 * N)[:] = found.astype(np.float32).tobytes()


class Everything(dict[str, Callable[[FakeCuda, list[int]], None]]):
    """One function for each kernel name."""

    def __missing__(self, key: str) -> Callable[[FakeCuda, list[int]], None]:
        return ones


def filled(device: str, values: np.ndarray) -> Buffer:
    made = Buffer(device, values.size, dtypes.float32).allocate()
    return made.copyin(values.astype(np.float32).view(np.uint8).data)


def test_bytes_go_there_and_back(cuda: FakeCuda) -> None:
    values = np.arange(N, dtype=np.float32)
    assert (filled("CUDA", values).as_array() == values).all()


def test_an_empty_buffer_needs_no_copy(cuda: FakeCuda) -> None:
    assert filled("CUDA", np.zeros(0, np.float32)).as_array().size == 0


def test_a_kernel_runs_after_what_was_asked_for_before(cuda: FakeCuda) -> None:
    cuda.kernels = Everything()
    x = Tensor(np.arange(N, dtype=np.float32)).to("CUDA")
    assert ((x + 1).numpy() == np.arange(N) + 1).all()


def test_a_launch_is_timed_by_events_which_are_given_back(cuda: FakeCuda) -> None:
    cuda.kernels = Everything()
    program = compile_kernel(add(), targets["sm_90"])
    runner = Device["CUDA"].load(program)
    buffers = [filled("CUDA", np.arange(N)) for _ in range(3)]
    assert runner(buffers, {}, wait=True) == pytest.approx(1e-3)
    assert all(event.freed for event in cuda.events)
    assert runner(buffers, {}) is None


def test_nothing_is_given_back_at_exit(cuda: FakeCuda) -> None:
    """The driver's own names are gone by then."""
    queue, given = Queue("CUDA", CudaDriver(api.api(), 0)), list[object]()
    queue.free(given.append, finalizing=lambda: True)
    assert not given
    queue.free(given.append)
    assert given == [queue.driver]


def test_a_grid_of_variables_is_that_of_the_values(cuda: FakeCuda) -> None:
    """And without work groups nothing is launched, which the driver would refuse."""
    cuda.kernels = type("None", (dict,), {"__missing__": lambda *_: lambda *_: None})()
    check_grids("CUDA", "sm_90", cuda)


def test_what_a_kernel_takes_is_known(cuda: FakeCuda) -> None:
    cuda.resources |= {"NUM_REGS": 40, "LOCAL_SIZE_BYTES": 16}
    runner = Device["CUDA"].load(compile_kernel(add(), targets["sm_90"]))
    assert isinstance(runner, GpuRunner)
    assert runner.loaded.resources.registers == 40
    assert runner.loaded.resources.local == 16


def test_a_run_says_what_the_loaded_code_takes(cuda: FakeCuda) -> None:
    """And the driver gets an edited text as it is."""
    cuda.kernels = Everything()
    text = compile_kernel(add(64), targets["sm_90"]).source.text + "// mine\n"
    found = try_kernel(add(64), "CUDA", 2, source=Edited("ptx", text))
    assert found.takes["registers"] == "32"
    assert found.takes["occupancy"].endswith("blocks of a processor")
    assert found.instructions is None
    assert RunResult.from_json(found.to_json()) == found


def test_machine_code_is_kept_on_disk(cuda: FakeCuda) -> None:
    program = compile_kernel(add(), targets["sm_90"])
    for _ in range(2):
        Device["CUDA"].load(program)
    assert cuda.links == 1


def test_freed_memory_is_trimmed_before_there_is_none_left(cuda: FakeCuda) -> None:
    allocator = Device["CUDA"].allocator
    handle = allocator.alloc(cuda.memory - 64)
    allocator.free(handle, cuda.memory - 64)  # is given back once the stream comes to it
    assert allocator.alloc(1 << 20)
    assert cuda.log.count("trim") == 1


def test_no_memory_left_says_how_much_there_is(cuda: FakeCuda) -> None:
    with pytest.raises(RunError, match=rf"no {1 << 30} bytes left .* of {cuda.memory} are"):
        Device["CUDA"].allocator.alloc(1 << 30)
    assert (filled("CUDA", np.ones(N)).as_array() == 1).all()  # and the GPU works on


def test_without_memory_pools(cuda: FakeCuda) -> None:
    cuda.attributes["MEMORY_POOLS_SUPPORTED"] = 0
    allocator = Device["CUDA"].allocator
    handle = allocator.alloc(8)
    allocator.free(handle, 8)
    assert not cuda.contexts[0].blocks


class TestSeveralGpus:
    def test_copies_go_between_them_without_the_host(self, cuda: FakeCuda) -> None:
        values = np.arange(N, dtype=np.float32)
        far = Buffer("CUDA:1", N, dtypes.float32).allocate()
        far.copy_from(filled("CUDA", values))
        assert cuda.log.count("peer 0 -> 1") == 1
        assert (far.as_array() == values).all()

    def test_the_source_lives_until_it_was_copied(self, cuda: FakeCuda) -> None:
        values = np.arange(N, dtype=np.float32)
        source, far = filled("CUDA", values), Buffer("CUDA:1", N, dtypes.float32).allocate()
        far.copy_from(source)
        source.deallocate()
        Device["CUDA"].synchronize()
        assert (far.as_array() == values).all()

    def test_nobody_waits_for_a_copy_between_them(self, cuda: FakeCuda) -> None:
        values = np.arange(N, dtype=np.float32)
        source, far = filled("CUDA", values), Buffer("CUDA:1", N, dtypes.float32).allocate()
        waiting = sum(len(s.waiting) for s in cuda.streams)
        assert waiting, "the source is not there yet"
        copy_buffer(far, source)
        assert sum(len(s.waiting) for s in cuda.streams) > waiting
        source.copyin((-values).view(np.uint8).data)  # comes after the copy
        assert (far.as_array() == values).all()

    def test_the_host_waits_where_they_do_not_reach_each_other(self, cuda: FakeCuda) -> None:
        near, host = Device["CUDA"].allocator, Device["CPU"].allocator
        assert near.follows(near)
        assert not near.follows(host)
        assert not host.follows(near)

    def test_parts_of_a_value_are_combined(self, cuda: FakeCuda) -> None:
        cuda.kernels = Everything()
        x = Tensor(np.zeros((2, N), np.float32), device="CPU").shard(("CUDA", "CUDA:1"), 0)
        with Context(OPT=0):
            x.sum(0).realize()
        peers = [line for line in cuda.log if line.startswith("peer")]
        assert sorted(peers) == ["peer 0 -> 1", "peer 1 -> 0"]

    def test_a_number_that_is_not_there(self, cuda: FakeCuda) -> None:
        with pytest.raises(DeviceError, match="no CUDA:2: the driver has 2 GPUs"):
            Device["CUDA:2"]


class TestStreams:
    def test_a_copy_comes_after_the_kernels_before_it(self, cuda: FakeCuda) -> None:
        allocator = Device["CUDA"].allocator
        source, target = filled("CUDA", np.arange(N)), filled("CUDA", np.zeros(N))
        stream = allocator.stream()
        places = (Place(allocator, b.handle) for b in (target, source))
        stream.copy(*places, 4 * N)
        event = stream.record()
        assert not event.done
        event.wait()
        assert event.done
        assert (target.as_array() == np.arange(N)).all()

    def test_host_memory(self, cuda: FakeCuda) -> None:
        allocator = Device["CUDA"].allocator
        handle, stream = allocator.alloc(8), allocator.stream()
        stream.copyin(handle, 0, memoryview(b"12345678"))
        found = bytearray(4)
        stream.copyout(memoryview(found), handle, 4)
        stream.synchronize()
        assert found == b"5678"

    def test_one_waits_for_another(self, cuda: FakeCuda) -> None:
        allocator = Device["CUDA"].allocator
        handle, one, two = allocator.alloc(8), allocator.stream(), allocator.stream()
        one.copyin(handle, 0, memoryview(b"12345678"))
        two.wait(one.record())
        found = bytearray(8)
        two.copyout(memoryview(found), handle, 0)
        two.synchronize()
        assert found == b"12345678"


class TestGraphs:
    def test_a_jit_runs_its_kernels_as_one_graph(self, cuda: FakeCuda) -> None:
        cuda.kernels = Everything()

        @TinyJit
        def twice(x: Tensor) -> Tensor:
            y = (x + 1).realize()
            return (y + 1).realize()

        x = Tensor(np.arange(N, dtype=np.float32)).to("CUDA").realize()
        for _ in range(5):
            GlobalCounters.reset()
            assert (twice(x).numpy() == np.arange(N) + 2).all()
            assert GlobalCounters.kernel_count == 2
        assert cuda.log.count("graph") == 2  # captured as a graph at the fourth call

    def test_its_graphs_are_given_back(self, cuda: FakeCuda) -> None:
        cuda.kernels = Everything()

        @TinyJit
        def twice(x: Tensor) -> Tensor:
            y = (x + 1).realize()
            return (y + 1).realize()

        x = Tensor(np.arange(N, dtype=np.float32)).to("CUDA").realize()
        for _ in range(5):
            twice(x)
        twice.reset()
        assert [graph.freed for graph in cuda.graphs] == [True]

    def test_a_capture_that_fails_leaves_the_stream_as_it_was(self, cuda: FakeCuda) -> None:
        def wrong() -> None:
            raise RunError("in the middle")

        device = Device["CUDA"]
        with pytest.raises(RunError, match="in the middle"):
            device.capture(wrong)
        assert [stream.captured for stream in cuda.streams] == [None]
        assert (filled("CUDA", np.arange(N)).as_array() == np.arange(N)).all()

    def test_one_by_one_where_somebody_watches(self, cuda: FakeCuda) -> None:
        cuda.kernels = Everything()

        @TinyJit
        def twice(x: Tensor) -> Tensor:
            y = (x + 1).realize()
            return (y + 1).realize()

        x = Tensor(np.arange(N, dtype=np.float32)).to("CUDA").realize()
        with Context(DEBUG=1):
            for _ in range(5):
                twice(x)
        assert "graph" not in cuda.log


class TestFaults:
    @staticmethod
    def wrong(fake: FakeCuda, values: list[int]) -> None:
        raise FaultError(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS)

    def test_a_fault_names_the_kernels_that_ran(self, cuda: FakeCuda) -> None:
        program = compile_kernel(add(), targets["sm_90"])
        cuda.kernels[program.name] = self.wrong
        runner = Device["CUDA"].load(program)
        buffers = [filled("CUDA", np.arange(N)) for _ in range(3)]
        runner(buffers, {})
        with pytest.raises(DriverError, match="illegal_address") as found:
            buffers[0].as_array()
        assert f"a fault of kernel {program.name}" in found.value.where
        assert "DEV=PTX:EMU" in found.value.hint

    def test_the_gpu_is_lost_and_the_others_go_on(self, cuda: FakeCuda) -> None:
        program = compile_kernel(add(), targets["sm_90"])
        cuda.kernels[program.name] = self.wrong
        runner = Device["CUDA"].load(program)
        buffers = [filled("CUDA", np.arange(N)) for _ in range(3)]
        with pytest.raises(DriverError):
            runner(buffers, {}, wait=True)
        with pytest.raises(RunError, match=f"CUDA is lost .* kernel {program.name}"):
            buffers[0].as_array()
        cuda.fault = None  # of the first GPU
        assert (filled("CUDA:1", np.ones(N)).as_array() == 1).all()

    def test_a_block_that_is_too_large(self, cuda: FakeCuda) -> None:
        cuda.attributes["MAX_BLOCK_DIM_X"] = 1
        cuda.attributes["MAX_GRID_DIM_X"] = 1
        program = compile_kernel(add(1024), targets["sm_90"])
        with pytest.raises(RunError, match=f"kernel {program.name} is larger than CUDA allows"):
            Device["CUDA"].load(program)

    def test_too_many_registers(self, cuda: FakeCuda) -> None:
        cuda.resources |= {"NUM_REGS": 255, "MAX_THREADS_PER_BLOCK": 2}
        with pytest.raises(RunError, match="takes 255 registers, which allows blocks of 2 threads"):
            Device["CUDA"].load(compile_kernel(add(1024), targets["sm_90"]))

    def test_too_much_shared_memory(self, cuda: FakeCuda) -> None:
        cuda.resources["SHARED_SIZE_BYTES"] = 1 << 20
        with pytest.raises(RunError, match="takes 1048576 bytes of shared memory of the 49152"):
            Device["CUDA"].load(compile_kernel(add(), targets["sm_90"]))

    def test_the_log_of_the_drivers_compiler(self, cuda: FakeCuda) -> None:
        cuda.link_log = "kernel.ptx, line 7; error: unknown symbol"
        with pytest.raises(CompileError, match="line 7; error: unknown symbol"):
            Device["CUDA"].load(compile_kernel(add(), targets["sm_90"]))

    def test_a_variable_without_a_value(self, cuda: FakeCuda) -> None:
        with pytest.raises(RunError, match="kernel k needs a value for n"):
            values_of("k", ("n",), {})


class TestWhatIsMissing:
    @pytest.fixture(autouse=True)
    def fresh(self, cuda: FakeCuda) -> None:
        """The fake, so that nothing of this machine's own answers."""

    def test_the_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, api.BINDINGS.module, None)
        with pytest.raises(DeviceError, match="cuda-bindings is not installed") as found:
            Device["CUDA"]
        assert "pip install" in found.value.hint

    def test_a_gpu(self, cuda: FakeCuda) -> None:
        cuda.initialised = CUresult.CUDA_ERROR_NO_DEVICE
        with pytest.raises(DeviceError, match="no_device") as found:
            Device["CUDA"]
        assert "CUDA_VISIBLE_DEVICES" in found.value.hint

    def test_the_driver(self, cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing(flags: int) -> None:
            raise RuntimeError("libcuda.so.1 not found")

        monkeypatch.setattr(cuda, "cuInit", missing)
        with pytest.raises(DeviceError, match="NVIDIA's driver is not installed"):
            Device["CUDA"]

    def test_a_gpu_that_is_too_old(self, cuda: FakeCuda) -> None:
        cuda.attributes |= {"COMPUTE_CAPABILITY_MAJOR": 6, "COMPUTE_CAPABILITY_MINOR": 1}
        with pytest.raises(DeviceError, match=r"compute capability 6\.1"):
            Device["CUDA"]


@pytest.mark.parametrize(
    ("arch", "target"),
    [("sm_75", "sm_75"), ("sm_87", "sm_86"), ("sm_90", "sm_90"), ("sm_120", "sm_100")],
)
def test_code_is_made_for_the_newest_target_that_runs(
    cuda: FakeCuda, arch: str, target: str
) -> None:
    number = capability(arch)
    cuda.attributes |= {
        "COMPUTE_CAPABILITY_MAJOR": number // 10, "COMPUTE_CAPABILITY_MINOR": number % 10,
    }  # fmt: skip
    device = Device["CUDA"]
    assert device.target == targets[target]
    assert target_for(device.queue.driver.limits).name == target
