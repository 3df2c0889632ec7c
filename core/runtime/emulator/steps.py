"""Instructions as closures over the slots of a `State`.

Each instruction becomes two steps: one for when every living lane is active, one for when some are
not, which keeps the others' values. Loads and stores are in `access.py`; what is computed, in the
front ends' tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from core.runtime.emulator.faults import fault
from core.runtime.emulator.program import Barrier, Compute, Guard, Instruction, Warp
from core.runtime.numeric import Array

if TYPE_CHECKING:
    from core.runtime.emulator.state import State

Step: TypeAlias = "Callable[[State], None]"
Slot: TypeAlias = "tuple[int, np.dtype[Any]]"
"""Where an operand is, and the dtype to see it as."""

_words: Final = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16), 4: np.dtype(np.uint32),
                 8: np.dtype(np.uint64)}  # fmt: skip


def value(s: State, slot: Slot) -> Array:
    """An operand: one element per lane, or one for all."""
    found = s.slots[slot[0]]
    return found if found.dtype is slot[1] else found.view(slot[1])


def merged(mask: Array, new: Array, old: Array | None) -> Array:
    """`new` where the mask is set, else `old` by its bits."""
    if old is None:
        return new
    return np.where(mask, new, old if old.dtype is new.dtype else old.view(new.dtype))


def taking_part(s: State, index: int, guard: Guard) -> tuple[Array | None, int]:
    """The mask and number of the active lanes for which a guard holds."""
    holds = s.slots[guard.number]
    if holds.shape[0] == 1:
        count = s.active if bool(holds[0]) == guard.wanted else 0
        mask = s.mask
    else:
        mask = holds if guard.wanted else ~holds
        if s.mask is not None:
            mask = mask & s.mask
        count = int(np.count_nonzero(mask))
        if count == s.active:
            mask = s.mask
    if count:
        s.guarded[index] = s.guarded.get(index, 0) + count
    return mask, count


def compute_steps(
    index: int, instruction: Compute, slots: Sequence[Slot], kept: frozenset[int]
) -> tuple[Step, Step]:
    """(step while all living lanes are active, step while some are not)."""
    if instruction.guard is not None:
        guarded = _guarded(index, instruction, slots, kept)
        return guarded, guarded
    evaluate = _evaluation(instruction, slots)
    numbers = tuple(r.number for r in instruction.results)
    if not kept.intersection(numbers):
        full = _assigning(evaluate, numbers)
        return full, full
    if len(numbers) == 1:
        (number,) = numbers

        def partial(s: State) -> None:
            s.slots[number] = merged(s.mask_now(), evaluate(s), s.slots[number])
    else:

        def partial(s: State) -> None:
            for n, new in zip(numbers, evaluate(s), strict=True):
                s.slots[n] = merged(s.mask_now(), new, s.slots[n])

    return _assigning(evaluate, numbers), partial


def _evaluation(instruction: Compute, slots: Sequence[Slot]) -> Callable[[State], Any]:
    function = instruction.function
    if len(slots) == 1:
        ((a, ta),) = slots

        def one(s: State) -> Any:
            x = s.slots[a]
            return function(x if x.dtype is ta else x.view(ta))

        return one
    if len(slots) == 2:
        (a, ta), (b, tb) = slots

        def two(s: State) -> Any:
            x, y = s.slots[a], s.slots[b]
            return function(x if x.dtype is ta else x.view(ta), y if y.dtype is tb else y.view(tb))

        return two
    places = tuple(slots)
    return lambda s: function(*(value(s, slot) for slot in places))


def _assigning(evaluate: Callable[[State], Any], numbers: Sequence[int]) -> Step:
    if len(numbers) == 1:
        (number,) = numbers

        def assign(s: State) -> None:
            s.slots[number] = evaluate(s)

        return assign

    def assign_all(s: State) -> None:
        for n, new in zip(numbers, evaluate(s), strict=True):
            s.slots[n] = new

    return assign_all


def _guarded(index: int, instruction: Compute, slots: Sequence[Slot], kept: frozenset[int]) -> Step:
    guard = instruction.guard
    assert guard is not None
    evaluate = _evaluation(instruction, slots)
    numbers = tuple(r.number for r in instruction.results)

    def step(s: State) -> None:
        mask, count = taking_part(s, index, guard)
        if not count:
            return
        found = evaluate(s)
        for n, new in zip(numbers, (found,) if len(numbers) == 1 else found, strict=True):
            s.slots[n] = new if mask is None else merged(mask, new, s.slots[n])

    return step


def warp_step(index: int, instruction: Warp, slots: Sequence[Slot], kept: frozenset[int]) -> Step:
    """The step of a collective."""
    numbers = tuple(r.number for r in instruction.results)
    places = tuple(slots)

    def step(s: State) -> None:
        mask, count = s.mask, s.active
        if instruction.guard is not None:
            mask, count = taking_part(s, index, instruction.guard)
        if not count:
            return
        active = s.in_warps(np.ones(s.lanes, np.bool_) if mask is None else mask)
        if instruction.whole:
            whole_warps(s, instruction, active)
        found = instruction.function(
            active, *(s.in_warps(s.spread(value(s, slot))) for slot in places)
        )
        for n, new in zip(numbers, (found,) if len(numbers) == 1 else found, strict=True):
            flat = s.from_warps(new)
            s.slots[n] = flat if mask is None else merged(mask, flat, s.slots[n])

    return step


def whole_warps(s: State, instruction: Instruction, active: Array) -> None:
    """Raises FaultError where `active`, (warps, width), lacks threads of a warp that takes part."""
    missing: Array = np.any(active, axis=1, keepdims=True) & ~active
    if missing.any():
        lanes = s.from_warps(np.broadcast_to(missing, active.shape))
        lane = int(np.flatnonzero(lanes)[0]) if lanes.any() else 0
        raise fault(
            s,
            instruction,
            "collective",
            f"{instruction.name} without all threads of its warp: this one is elsewhere",
            lane,
        )


def barrier_step(instruction: Barrier) -> Step:
    """The step of a barrier."""

    def step(s: State) -> None:
        met = None if s.full else _blocks_that_meet(s, instruction)
        if s.shadow is not None:
            s.shadow.barrier(met)

    return step


def _blocks_that_meet(s: State, instruction: Barrier) -> Array:
    active = s.mask_now().reshape(s.blocks, s.threads)
    everyone = np.ones(s.lanes, np.bool_) if s.alive is None else s.alive
    alive = everyone.reshape(s.blocks, s.threads)
    met: Array = np.any(active, axis=1)
    missing: Array = met[:, None] & alive & ~active
    if missing.any():
        block = int(np.flatnonzero(missing.any(axis=1))[0])
        lane = block * s.threads + int(np.flatnonzero(missing[block])[0])
        count = int(missing[block].sum())
        raise fault(
            s,
            instruction,
            "barrier",
            f"a barrier that {count} of {int(alive[block].sum())} living threads of the block "
            "do not reach, the first of them this one",
            lane,
        )
    return met


def with_checks(
    step: Step,
    instruction: Instruction,
    doubtful: Sequence[int],
    tracked: Sequence[int],
) -> Step:
    """`step` after a check that registers were written, before a note of what it writes."""
    guard = instruction.guard

    def checked(s: State) -> None:
        mask = s.mask
        if guard is not None:
            if guard.number in doubtful:
                _known(s, instruction, guard.number, mask)
            holds = s.spread(s.slots[guard.number])
            holds = holds if guard.wanted else ~holds
            mask = holds if mask is None else holds & mask
        for number in doubtful:
            _known(s, instruction, number, mask)
        step(s)
        for number in tracked:
            now = np.ones(s.lanes, np.bool_) if mask is None else mask
            known = s.defined.get(number)
            s.defined[number] = now if known is None else known | now

    return checked


def _known(s: State, instruction: Instruction, number: int, mask: Array | None) -> None:
    known = s.defined.get(number)
    unknown = np.ones(s.lanes, np.bool_) if known is None else ~known
    if mask is not None:
        unknown = unknown & mask
    if unknown.any():
        name = s.code.registers[number]
        raise fault(
            s,
            instruction,
            "uninitialised",
            f"{instruction.name} reads register {name}, which nothing has written",
            int(np.flatnonzero(unknown)[0]),
        )


def with_preconditions(index: int, step: Step, instruction: Compute, slots: Sequence[Slot]) -> Step:
    """`step` after a check that no active thread breaks a precondition."""
    places = tuple(slots)

    def checked(s: State) -> None:
        mask = s.mask
        if instruction.guard is not None:
            mask, count = taking_part(s, index, instruction.guard)
            if not count:
                return
        operands = [value(s, slot) for slot in places]
        for precondition in instruction.preconditions:
            broken: Array = precondition.broken(*operands)
            if broken.any():
                broken = s.spread(broken) if mask is None else broken & mask
                if broken.any():
                    lane = int(np.flatnonzero(broken)[0])
                    raise fault(s, instruction, "undefined", precondition.what, lane)
        step(s)

    return checked


def blank(itemsize: int) -> Array:
    """What a register holds that nothing has written."""
    return np.zeros(1, _words[itemsize])
