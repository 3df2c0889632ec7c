"""LLVM, from the llvmlite wheel: IR text to machine code in this process, or to assembly text.

One target machine per target, made when it is first needed. What is loaded is kept in memory by its
text, and its object on disk for the next process. Knows nothing of nodes; line numbers in the
assembly are those of the IR's metadata.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import threading
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from llvmlite import binding as llvm

from core.errors import CompileError
from core.target import Target, targets
from core.toolchain.diskcache import DiskCache
from core.toolchain.llvm_guard import check_selectable
from core.toolchain.processor import Machine, host

_lock: Final = threading.RLock()
"""LLVM contexts are not made for several threads at once."""
objects: Final = DiskCache("object", 64 << 20)
"""Object files of this machine's kernels."""


@lru_cache(maxsize=1)
def _initialised() -> bool:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.set_option("", "-x86-asm-syntax=intel")
    # otherwise the parser verifies debug information itself, and aborts where a module is invalid
    llvm.set_option("", "-disable-auto-upgrade-debug-info")
    return True


def machine_of(target: Target) -> Machine:
    """LLVM's names for `target`; for the host's target, with every feature of the host."""
    found = host()
    return found.machine if target == found.target else named(target)


def named(target: Target) -> Machine:
    """LLVM's names for `target`, with only the features that it requires."""
    return Machine(target.triple, target.processor, target.features)


@lru_cache(maxsize=32)
def _target_machine(machine: Machine) -> Any:
    _initialised()
    try:
        found = llvm.Target.from_triple(machine.triple)
    except RuntimeError as error:
        raise CompileError(
            f"llvm: this build of LLVM cannot make code for {machine.triple}",
            hint="install the llvmlite wheel from the package index",
        ) from error
    return found.create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=3, reloc="pic", codemodel="small"
    )


def parse(text: str) -> Any:
    """The verified module of IR `text`. Raises RuntimeError with LLVM's own words."""
    with _lock:
        _initialised()
        module = llvm.parse_assembly(text)
        module.verify()
        return module


@lru_cache(maxsize=4)  # a kernel that is watched is made into assembly, then into an object
def _optimised(text: str, description: Machine, name: str) -> Any:
    """The module of `text` after LLVM's standard pipeline. Raises CompileError for bad IR.

    Loops are not unrolled: the kernel's own passes have done that where it pays.
    """
    machine = _target_machine(description)
    try:
        module = parse(text)
    except RuntimeError as error:
        raise CompileError(
            f"llvm: the IR of kernel {name} is not valid",
            str(error).strip(),
            "this is a fault of the renderer or of a pass; please report it",
        ) from error
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    gpu = targets[description.cpu] if description.triple.startswith("amdgcn") else None
    check_selectable(module, name, machine.target_data, gpu)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


@lru_cache(maxsize=64)  # emitting changes the shared module, and AMD's twice would abort
def assembly(text: str, name: str, target: Target) -> str:
    """Assembly text of the IR `text` for `target`, with `.loc` directives. Raises CompileError."""
    with _lock:
        machine = machine_of(target)
        return _target_machine(machine).emit_assembly(_optimised(text, machine, name))


def object_code(text: str, name: str, machine: Machine) -> bytes:
    """The object file of the IR `text`. Raises CompileError."""
    with _lock:
        return _target_machine(machine).emit_object(_optimised(text, machine, name))


@lru_cache(maxsize=1)
def _made_by() -> tuple[str, ...]:
    """What objects depend on besides text and machine: LLVM, and how this module calls it."""
    version = ".".join(map(str, llvm.llvm_version_info))
    own = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    return version, metadata.version("llvmlite"), own


def _kept_object(text: str, name: str, machine: Machine) -> bytes:
    """The object file of the IR `text`, from disk where it is there. Raises CompileError."""
    made_of = (text, machine.triple, machine.cpu, machine.features, *_made_by())
    return objects.get(made_of, lambda: object_code(text, name, machine))


class Loaded:
    """Machine code of one kernel in this process; `address` is where its function starts."""

    def __init__(self, address: int, tracker: object, code: bytes) -> None:
        self.address, self.code = address, code
        self._tracker = tracker  # frees the code when it dies


_numbers: Final = itertools.count()


@lru_cache(maxsize=1)
def _jit() -> Any:
    # LLVM's older linker places each section by itself, and aborts the process where those of one
    # kernel come to lie more than 2 GB apart; the one for COFF objects is not complete
    newer = "windows" not in host().machine.triple
    return llvm.create_lljit_compiler(_target_machine(host().machine), use_jit_link=newer)


@lru_cache(maxsize=4096)
def load(text: str, name: str) -> Loaded:
    """Compiles the IR `text` for this processor and loads function `name`. Raises CompileError."""
    with _lock:
        code = _kept_object(text, name, host().machine)
        builder = llvm.JITLibraryBuilder().add_object_img(code).export_symbol(name)
        builder.add_current_process()
        try:
            tracker = builder.link(_jit(), f"kernel{next(_numbers)}")
        except RuntimeError as error:
            raise CompileError(
                f"llvm: kernel {name} could not be loaded",
                str(error).strip(),
                "a function that it calls is missing on this machine",
            ) from error
        return Loaded(tracker[name], tracker, code)


_location: Final = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")
_directive: Final = re.compile(r"\s*(\.|#|//|;)")


def instructions(text: str, name: str) -> tuple[list[str], list[int]]:
    """The instructions and labels of function `name` in assembly `text`, without directives; and
    for each line the IR's line number behind it (0: none)."""
    lines: list[str] = []
    numbers: list[int] = []
    here, inside = 0, False
    for line in text.splitlines():
        if line.startswith(f"{name}:"):
            inside = True
        elif line.startswith(".Lfunc_end"):
            inside = False
        if not inside:
            continue
        found = _location.match(line)
        if found:
            here = int(found[1])
        elif not _directive.match(line) or (line.startswith((".LBB", ".Ltmp")) and ".LBB" in line):
            is_label = line.rstrip().split(";")[0].rstrip().endswith(":")
            lines.append(line.rstrip())
            numbers.append(0 if is_label else here)
    return lines, numbers
