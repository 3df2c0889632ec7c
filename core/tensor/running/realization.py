"""From lazy graphs to memory: which nodes to schedule, and which live Tensors get the result.

Schedules and runs through `create_schedule` and `run_schedule`; knows no kernel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import Final
from weakref import WeakKeyDictionary, ref

from core.errors import ScheduleError
from core.garbage import collector_paused
from core.passes.schedule import ScheduleItem, create_schedule
from core.realize import run_schedule
from core.runtime.awaited import awaited, check
from core.runtime.buffer import buffer_of, buffers
from core.runtime.disk.device import is_disk
from core.tensor.calls.origin import here, origin
from core.tensor.running import kept, lost, written
from core.tensor.running.following import follow
from core.tensor.running.kept import is_leaf
from core.tensor.state.base import TensorBase, in_fresh_memory, live, placed
from core.tensor.state.files import memories_of_file, place_in_file
from core.tensor.state.live import KEEPS_ALL, Holder, is_stored, memory_of, reads_image
from core.tensor.state.storage import Storage
from core.uop.call.kernelcall import outputs_of_call
from core.uop.call.parts import parts_of, whole_of
from core.uop.facts.shards import stays
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

_stored_anyway = frozenset({Ops.CONTIGUOUS, Ops.COPY, Ops.ASSIGN})
_same_elements = frozenset({Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.COPY})


def storage_root(uop: UOp) -> UOp:
    """The node to store for `uop`: below the movements that lose no element, and an image where it
    is read from one, so that what reads the value as an image copies nothing."""
    while uop.op in KEEPS_ALL or reads_image(uop):
        uop = uop.src[0]
    return uop


@collector_paused()
def plan(tensors: Sequence[TensorBase]) -> list[ScheduleItem]:
    """The kernels and copies that would store `tensors`; no Tensor changes and nothing runs."""
    roots = {storage_root(placed(t)): None for t in tensors if not is_stored(t.uop)}
    with origin(None):
        return create_schedule(UOp.sink(*roots))[0] if roots else []


@collector_paused()
def schedule(tensors: Sequence[TensorBase]) -> list[ScheduleItem]:
    """The kernels and copies that store `tensors`, in order; live Tensors now name the memory.

    Also stores what an assignment among them would overwrite while another live Tensor, not yet
    computed, still reads it: laziness never changes a value. An assignment that cannot be done is
    forgotten with its error: its target keeps its values.
    """
    roots = {storage_root(placed(t)): None for t in tensors if not is_stored(t.uop)}
    if not roots:
        return []
    graph = UOp.sink(*roots).toposort()
    done: list[UOp] = []
    readers: dict[Holder, None] = {}
    assigns = [u for u in graph if u.op is Ops.ASSIGN]
    while len(assigns) > len(done):
        done = assigns
        _part_equals(assigns)
        roots |= dict.fromkeys(assigns)
        readers |= dict.fromkeys(_overwritten_readers(assigns))
        replace_in_live({u: u.contiguous() for u in _copies(readers)})
        roots |= dict.fromkeys(storage_root(t.uop) for t in readers)
        graph = UOp.sink(*roots).toposort()
        assigns = [u for u in graph if u.op is Ops.ASSIGN]  # a reader may assign in its turn
    roots |= dict.fromkeys(u for u in graph if u.op in _stored_anyway and live.is_wanted(u))
    roots |= dict.fromkeys(_wanted_outputs(roots))
    try:
        with origin(None):
            items, realized = create_schedule(UOp.sink(*roots))
    except ScheduleError as error:
        targets = {whole_of(t) for t in error.targets if isinstance(t, UOp)}
        failed = [u for u in graph if u.op is Ops.ASSIGN and u.src[0].base in targets]
        replace_in_live({u: u.src[0] for u in failed})
        raise
    stored = _detached(graph, {root: realized[root] for root in roots if root in realized})
    ways = follow(graph, stored)
    for root in ways.views:
        del stored[root]
    replace_in_live(stored)
    ways.open()
    return items


def _detached(graph: Collection[UOp], stored: dict[UOp, UOp]) -> dict[UOp, UOp]:
    """`stored`, where no gradient flows from a detached value to what it shares its memory with."""
    shared = Counter(form.base for form in stored.values())
    for root, form in stored.items():
        u = root
        while u.op in GroupOp.Movement or u.op in _same_elements:
            u = u.src[0]
        if u.op is Ops.DETACH and (form.base in graph or shared[form.base] > 1):
            stored[root] = form.detach()
    return stored


def _wanted_outputs(roots: Collection[UOp]) -> list[UOp]:
    """The outputs of kernels written by hand below `roots` that a live Tensor other than those to
    be stored needs: what such a kernel computes is not known to be cheap, so it runs once. What a
    gradient will be computed from is needed, too."""
    graph = UOp.sink(*roots).toposort()
    kernels = [u for u in graph if u.op is Ops.KERNEL and not u.arg.in_place]
    outputs = dict.fromkeys(u for k in kernels for u in outputs_of_call(k) if u not in roots)
    if not outputs:
        return []
    ends = {u for u in outputs if u.src[0].arg.backward is None}
    tensors = (t for t in live.above(outputs)[1] if isinstance(t, TensorBase))
    others = UOp.sink(
        *(t.uop for t in tensors if t.requires_grad or storage_root(t.uop) not in roots)
    )
    needed = {s for u in others.toposort(lambda u: u not in ends) for s in (u, *u.src)}
    return [u for u in outputs if u in needed]


@collector_paused()
def realize(tensors: Sequence[TensorBase]) -> None:
    """Computes `tensors` and stores them; the graphs that made them are released. Raises RunError,
    and does nothing, where they are made of what has yet to be computed by others."""
    if awaited:
        check_content(tensors)
    items = schedule(tensors)
    if items:
        with origin(None):
            run_schedule(items)


def check_content(tensors: Sequence[TensorBase]) -> None:
    """Raises RunError where `tensors` read memory whose content has yet to be computed. What is
    overwritten as a whole is not read."""
    graph = UOp.sink(*(t.uop for t in tensors)).toposort()
    targets: dict[UOp, None] = {}
    for u in graph:
        if u.op is Ops.ASSIGN:
            target = u.src[0]
            while target.op is Ops.RESHAPE:
                targets[target] = None
                target = target.src[0]
    for u in graph:
        if u not in targets:
            for read in u.src[u.op is Ops.ASSIGN :]:
                for part in parts_of(read.base if read in targets else read):
                    if (found := buffers.get(part)) is not None:
                        check(found, here())


def replace_in_live(replacements: dict[UOp, UOp]) -> None:
    """Puts new nodes for old in the graph of every live Tensor and Storage that contains them."""
    if not replacements:
        return
    touched: dict[UOp, UOp] = dict(replacements)
    above, tensors = live.above(replacements)
    graphs = UOp.sink(*(t.uop for t in tensors))
    for u in graphs.toposort(lambda u: u in above or u is graphs):
        if u is not graphs:
            touched[u] = u.rebuild(tuple(touched.get(s, s) for s in u.src))
    for t in tensors:
        t.uop = touched[t.uop]
    for t in tensors:
        if not isinstance(t, TensorBase) or t.place is None:
            continue
        if t.place.alone and t.place.form is not t.uop:
            t.place = None  # a part that was computed by itself, and nothing else sees the whole


_owners: WeakKeyDictionary[UOp, ref[Storage[TensorBase] | _Nobody]] = WeakKeyDictionary()
"""Who may write to a BUFFER that several Storages, equal in value, are stored in."""


def write(storage: Storage[TensorBase], new: UOp, apart: bool) -> None:
    """Another value for all that see `storage`: in its memory if it has any of its own. `apart`: no
    gradient flows from a leaf that sees it to what the value is made of."""
    target = storage.uop
    if new is target:
        return
    for leaf in [place.tensor() for place in storage.places]:
        if leaf is not None and leaf.requires_grad and is_leaf(leaf.uop):
            lost.leaf_changes(leaf)
            new = new.detach() if apart and new.op is not Ops.DETACH else new
    in_place = has_memory(target) and _each_once(target) and _owns(storage, target.base)
    written.note(storage, in_place)
    if not in_place:
        storage.write(new.cut(target.axis))
        return
    pending: dict[UOp, UOp] = {}
    while target.base.op is Ops.ASSIGN:  # what it would have stored is all overwritten
        inner = target.base
        pending[inner] = inner.src[1]
        target = target.substitute({inner: inner.src[0]})
    # what has read the earlier values keeps them; only the last ones are stored
    replace_in_live(pending)
    _owners[target.base] = ref(storage)
    storage.write(target.assign(new.substitute(pending) if pending else new))


def own_memory(storage: Storage[TensorBase]) -> None:
    """Another form of the same value: in row-major memory that nothing else is stored in."""
    memory = storage.uop
    while memory.op in (Ops.RESHAPE, Ops.ASSIGN):
        memory = memory.src[0]
    known = _owners.get(memory)
    if known is not None and known() is storage:
        return
    whole = memory.op is Ops.BUFFER and _owns(storage, storage.uop.base)
    if not whole:
        storage.write(in_fresh_memory(storage.uop))
    _owners[memory if whole else storage.uop.src[0].base] = ref(storage)


def write_to_file(target: UOp, data: Callable[[], bytearray]) -> None:
    """Writes bytes where a value is in its file. What waits to be computed from the file is
    computed first; what is in the file sees the change. Raises DeviceError where the elements of
    the value do not follow each other in the file."""
    memory, offset = place_in_file(target)
    raw = data()
    _, readers = live.above(memories_of_file(memory))
    waiting = [t for t in readers if isinstance(t, TensorBase) and not is_disk(t.device)]
    realize(waiting)
    place = buffer_of(memory).place
    place.allocator.copyin(place.handle, offset, memoryview(raw))


class _Nobody:
    """The owner of memory that no Storage may write to."""


_nobody: Final = _Nobody()


def read_only(memory: UOp) -> None:
    """What is assigned to values in a BUFFER is stored elsewhere from here on."""
    _owners[memory] = ref(_nobody)


def settle_replay(read: Collection[UOp], written: Collection[UOp]) -> None:
    """`settle` before kernels that ran before run again: what their memory holds then was not
    computed as it is kept. Parts of memory stand for the whole."""
    read, written = (dict.fromkeys(map(whole_of, some)) for some in (read, written))
    settle(read, written)
    kept.cut_at(written)


def settle(read: Collection[UOp], written: Collection[UOp]) -> None:
    """Before kernels run that no schedule knows of: computes what waits to overwrite a BUFFER of
    `read`, or to read or overwrite one of `written`, and parts their owners from what only equals
    them."""
    if live.has_users(written) or live.has_users(read):
        waiting, readers = live.above(dict.fromkeys(written))
        over = dict.fromkeys(read, None) | dict.fromkeys(written, None)
        above = [*waiting, *live.above(dict.fromkeys(read))[0]] if read else waiting
        assigns = [u for u in above if u.op is Ops.ASSIGN and u.src[0].base in over]
        found = [*readers, *(live.above(dict.fromkeys(assigns))[1] if assigns else ())]
        _realize_others([t for t in found if isinstance(t, TensorBase)])
    for buffer in written:
        holders = live.elements_of(buffer)
        if len({id(_storage_of(t)) for t in holders}) > 1:
            known = _owners.get(buffer)
            owner = None if known is None else known()
            owner = _storage_of(holders[0]) if owner is None else owner
            equals = [t for t in holders if _storage_of(t) is not owner]
            _part(buffer, equals)
            _realize_others([t for t in equals if isinstance(t, TensorBase)])


def _realize_others(tensors: Sequence[TensorBase]) -> None:
    """Computes Tensors that are not asked for now. One that cannot be scheduled raises where it is
    asked for, and nowhere else: the traceback of its first error may keep it alive for long."""
    try:
        realize(tensors)
    except ScheduleError:
        for tensor in tensors:
            with suppress(ScheduleError):
                realize([tensor])


def part_results(tensors: Iterable[TensorBase], inputs: Collection[UOp]) -> None:
    """Computes copies for those of `tensors` whose value only equals what else is stored in its
    BUFFER, unless that is one of `inputs`: kernels that run again then write to each of them."""
    parted: list[TensorBase] = []
    for tensor in tensors:
        memory = memory_of(tensor.uop)
        if memory.op is not Ops.BUFFER or memory in inputs:
            continue
        own = _storage_of(tensor)
        holders = live.elements_of(memory)
        if any(_storage_of(t) is not own for t in holders):
            known = _owners.get(memory)
            owner = None if known is None else known()
            if (_storage_of(holders[0]) if owner is None else owner) is not own:
                _part(memory, [t for t in holders if _storage_of(t) is own])
                parted.append(tensor)
    if parted:
        realize(parted)


def settle_state(inputs: Collection[UOp]) -> None:
    """`settle` for `inputs` and all memory that was ever assigned to."""
    settle((), [*inputs, *(b for b in list(_owners) if b not in inputs)])


def has_memory(uop: UOp) -> bool:
    """Whether the value is in memory, or is stored in some when it is computed."""
    return uop.base.op in (Ops.BUFFER, Ops.ASSIGN)


def _each_once(uop: UOp) -> bool:
    """Whether `uop` is elements of its base, each at most once, and on each device its own."""
    while uop is not uop.base:
        if uop.op in (Ops.EXPAND, Ops.PAD) or not stays(uop):
            return False
        if uop.op is Ops.VIEW:
            st = uop.arg
            strides = zip(st.shape, st.real_strides(), strict=True)
            if st.masked or any(n > 1 and not stride for n, stride in strides):
                return False
        uop = uop.src[0]
    return True


def _owns(storage: Storage[TensorBase], memory: UOp) -> bool:
    """Whether `storage` may write to a BUFFER, or after an ASSIGN to one: it did before, or it is
    the first of those whose value that is."""
    buffer = memory
    while buffer.op is Ops.ASSIGN:
        buffer = buffer.src[0].base
    known = _owners.get(buffer)
    owner: object = None if known is None else known()
    if owner is None:
        owner = next((_storage_of(t) for t in live.elements_of(memory)), storage)
    return owner is storage


def _storage_of(holder: Holder) -> object:
    """The Storage that a Tensor sees, if it has one."""
    if isinstance(holder, TensorBase) and holder.place is not None:
        return holder.place.storage
    return holder


def _part_equals(assigns: Sequence[UOp]) -> None:
    """Gives the Tensors that only equal what `assigns` overwrite memory of their own.

    What sees the value that is assigned to sees the ASSIGN by now: others whose value is elements
    of its BUFFER took that value from it."""
    for buffer in dict.fromkeys(u.src[0].base for u in assigns):
        _part(buffer, live.elements_of(buffer))


def _part(buffer: UOp, equals: Sequence[Holder]) -> None:
    """Gives those whose value is elements of `buffer` a copy of it."""
    if equals:
        own = in_fresh_memory(buffer)
        for t in equals:
            t.uop = t.uop.substitute({buffer: own})


def _copies(readers: Iterable[Holder]) -> list[UOp]:
    """The copies that a gradient comes to, of what is to be stored before it is overwritten: those
    of transposed values would be views of memory, by which no gradient comes back."""
    roots = dict.fromkeys(storage_root(t.uop) for t in readers)
    return [u for u in roots if u.op is Ops.COPY and kept.leads(u)]


def _overwritten_readers(assigns: Sequence[UOp]) -> list[Holder]:
    """The uncomputed live Tensors that read, as it is now, memory that `assigns` overwrite."""
    scheduled = set(assigns)

    def reads(user: UOp, source: UOp) -> bool:
        if user in scheduled:
            return False
        return user.op is not Ops.ASSIGN or source in user.src[1:]

    _, found = live.above({u.src[0].base: None for u in assigns}, reads)
    return [
        t
        for t in found
        if isinstance(t, TensorBase) or (isinstance(t, Storage) and len(t.places) > 1)
    ]
