"""Large, hostile and broken traces: answers in bounded time, and says what is left out."""

from __future__ import annotations

import errno
import json
import random
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from core.errors import TraceError
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.bench.traces import Synthesis, chain, load_graph, many_passes, one_pass, synthetic
from tests.browser.hostile import circular
from tests.effort import at_most
from tests.viz.read.test_damage import look_at_everything
from tests.viz.samples import random_graph, rules
from viz.format import schema
from viz.format.events import events_of
from viz.read.steps import read_steps
from viz.read.tracefile import TraceFile
from viz.replay import bundle as bundles
from viz.replay.economics import NodeCounts
from viz.replay.slots import Slots
from viz.trace import Recorder
from viz.views.kernels.kernels import KernelReader
from viz.views.nodes.lineage import Lineage
from viz.views.rules.matches import Matches
from viz.views.search.index import Index
from viz.views.store import Store
from viz.write.writer import TraceWriter

PATIENCE = 60.0
"""Seconds after which a thread is taken to hang."""
LIMIT = 700
"""Units of work that no answer may take."""


def repairs(path: Path) -> int:
    """How many edges of the passes of a trace differ from what the replay made of them."""
    file = TraceFile(path)
    file.refresh()
    found = 0
    for rewrite in file.rewrites.values():
        slots = Slots(rewrite.sink, file.nodes.sources, lambda n: n)
        events = read_steps(file, rewrite)
        for old, new in events.leading:
            slots.rebuild(old, new)
        for match, rebuilds in events.steps:
            slots.match(match.before, match.after)
            for old, new in rebuilds:
                slots.rebuild(old, new)
        slots.settle(rewrite.result)
        found += slots.repairs
    file.close()
    return found


def test_synthetic_traces_are_what_an_engine_could_have_done(tmp_path: Path) -> None:
    small = one_pass(tmp_path / "small.viz", load_graph("kernel_125"), 300)
    assert repairs(small) == 0
    many = many_passes(tmp_path / "many.viz", 20, 30)
    assert repairs(many) == 0
    assert look_at_everything(many)["totals"]["steps"] == 600


def test_a_step_costs_its_change(tmp_path: Path) -> None:
    store = Store(one_pass(tmp_path / "t.viz", load_graph("kernel_1271"), 2_000))
    bundle = store.bundle(2)
    store.close()
    assert bundle is not None
    assert len(bundle["steps"]) == 2_000
    sizes = sorted(len(json.dumps(step)) for step in bundle["steps"])
    assert sizes[len(sizes) // 2] < 400
    assert bundle["truncated"] is None


def test_a_million_steps_in_one_pass(tmp_path: Path) -> None:
    path, count, part = tmp_path / "million.viz", 1_000_000, 20_000
    with TraceWriter(path, {}) as t:
        a, b = t.node("ADD", arg="1"), t.node("MUL", arg="2")
        rule = t.rule("swap")
        step = t.rewrite_begin("endless", a)
        turns = ((schema.MATCH, step, rule, *pair, 1000, 0, 0) for pair in ((a, b), (b, a)))
        events = events_of([*turns] * (part // 2))
        for _ in range(count // part):
            t.extend(events)
        t.rewrite_end(step, a)
    with at_most(LIMIT):
        store = Store(path)
        (row,) = store.tree()["rows"]
        assert row["steps"] == count
        bundle = store.bundle(row["id"])
        assert bundle is not None
        assert len(bundle["steps"]) == bundles.MAX_STEPS
        assert bundle["truncated"] == (
            f"Steps {bundles.MAX_STEPS + 1:,} to 1,000,000 are left out: the steps before are as "
            "many as the page shows of one pass."
        )
        store.close()


def test_a_hub_whose_users_all_move_at_every_step(tmp_path: Path) -> None:
    path, users = tmp_path / "hub.viz", 3_000
    with TraceWriter(path, {}) as t:
        leaves = [t.node("CONST", arg=str(i)) for i in range(2)]
        middle = [t.node("ADD", src=(leaves[0],), arg=str(i)) for i in range(users)]
        sink = t.node("SINK", src=middle)
        rule = t.rule("swap")
        step = t.rewrite_begin("hub", sink)
        for i in range(800):  # x + 0 -> x for one user after another, the sink has them all
            t.match(step, rule, middle[i], leaves[0], {}, ns=1)
        t.rewrite_end(step)
    with at_most(LIMIT):
        store = Store(path)
        bundle = store.bundle(1)
        store.close()
        assert bundle is not None
        assert 100 < len(bundle["steps"]) < 800
        assert "change more than 1,000,000 nodes and sources" in bundle["truncated"]
        assert len(json.dumps(bundle)) < 20_000_000


def test_cycles_and_nonsense_in_the_events(tmp_path: Path) -> None:
    """Matches between any two nodes: what contains its own replacement, the root, what is gone."""
    seed = random.randrange(1 << 30)
    print("seed", seed)
    choose = random.Random(seed)
    for case in range(60):
        path = tmp_path / f"{case}.viz"
        with TraceWriter(path, {}) as t:
            nodes: list[int] = []
            for i in range(choose.randrange(2, 30)):
                src = choose.sample(nodes, min(len(nodes), choose.randrange(3)))
                nodes.append(t.node(choose.choice("ABC"), src=src, arg=str(i)))
            rule = t.rule("any")
            step = t.rewrite_begin("nonsense", nodes[-1])
            for _ in range(choose.randrange(60)):
                a, b = choose.choice(nodes), choose.choice(nodes)
                if choose.random() < 0.5:
                    t.match(step, rule, a, b, {"x": choose.choice(nodes)}, ns=1)
                else:
                    t.rebuild(step, a, b)
            t.rewrite_end(step, choose.choice([0, *nodes]))
        store = Store(path)
        bundle = store.bundle(1)
        store.close()
        assert bundle is not None
        check_numbers(bundle)
        path.unlink()


def test_a_circle_is_said(tmp_path: Path) -> None:
    store = Store(circular(tmp_path / "t.viz"))
    bundle = store.bundle(1)
    store.close()
    assert bundle is not None
    check_numbers(bundle)
    assert bundle["truncated"].startswith("Step 1 puts a node below itself")


def test_no_graph_of_a_sound_trace_is_circular(trace: Path) -> None:
    store = Store(trace)
    for row in store.tree()["rows"]:
        bundle = store.bundle(row["id"])
        assert bundle is None or bundle["truncated"] is None
    store.close()


def check_numbers(bundle: dict) -> None:
    """Every slot and node that a bundle names exists."""
    slots, nodes = range(bundle["slots"]), range(len(bundle["nodes"]["id"]))
    states = [*zip(*bundle["initial"].values(), strict=True)]
    for step in bundle["steps"]:
        states += step["set"]
        named = (*step["drop"], *step["removed"], *step["added"], *step["moved"])
        assert all(slot in slots for slot in (*named, step["slot"], step["result"]))
        assert step["before"] in nodes and step["after"] in nodes
    for slot, node, src in states:
        assert slot in slots and node in nodes and all(s in slots for s in src)
    assert bundle["root"] in slots


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small trace in few pages, so that damage hits something."""

    def write(made: Synthesis) -> None:
        graph = chain(8)
        context_ = made.writer.context_begin("kernel k", "kernel")
        made.rewrite("simplify", graph, made.graph(graph, "g"), 20, context=context_)
        made.writer.context_end(context_)

    return synthetic(tmp_path_factory.mktemp("whole") / "t.viz", write).read_bytes()


def test_cut_anywhere(whole: bytes, tmp_path: Path) -> None:
    seed = random.randrange(1 << 30)
    print("seed", seed)
    choose = random.Random(seed)
    path = tmp_path / "cut.viz"
    for length in sorted(choose.sample(range(len(whole)), 120)):
        path.write_bytes(whole[:length])
        try:
            run = look_at_everything(path)
        except TraceError:
            continue
        assert run["problems"], f"cut at {length} of {len(whole)}"


def test_damaged_anywhere(whole: bytes, tmp_path: Path) -> None:
    seed = random.randrange(1 << 30)
    print("seed", seed)
    choose = random.Random(seed)
    path = tmp_path / "bad.viz"
    for _ in range(250):
        damaged = bytearray(whole)
        at = choose.randrange(len(damaged))
        length = choose.choice((1, 1, 4, 100, 1024))
        damaged[at : at + length] = choose.randbytes(min(length, len(damaged) - at))
        path.write_bytes(damaged)
        with at_most(LIMIT), suppress(TraceError):  # said in one sentence: nothing is left to show
            look_at_everything(path)


def extended(path: Path, size: int) -> int:
    """The file is made `size` bytes long by a hole; where files may not be so large, half of that,
    a quarter and so on. Returns the length."""
    with path.open("ab") as file:
        while True:
            try:
                return file.truncate(size)
            except OSError as error:
                if error.errno != errno.EFBIG:
                    raise
                size //= 2


def test_five_gigabytes_of_holes(whole: bytes, tmp_path: Path) -> None:
    empty, longer, claims = (tmp_path / name for name in ("empty.viz", "longer.viz", "claims.viz"))
    with at_most(LIMIT):
        size = extended(empty, 5 << 30)
        assert size > 100 * len(whole)
        with pytest.raises(TraceError, match="not a trace"):
            Store(empty)
        longer.write_bytes(whole)
        page = int.from_bytes(whole[16:18])
        claims.write_bytes(whole[:28] + (size // page).to_bytes(4) + whole[32:])
        for path in (longer, claims):
            assert extended(path, size) == size
            run = look_at_everything(path)
            assert run["totals"]["steps"] == 20
            assert any("hold nothing" in problem["what"] for problem in run["problems"])


def test_labels_of_a_megabyte(tmp_path: Path) -> None:
    path, label = tmp_path / "t.viz", "<script>alert(1)</script>\x00\x1b[2J" * 40_000
    with TraceWriter(path, {}) as t:
        nodes: list[int] = []
        for i in range(30):
            text = f"{i}{label}"
            nodes.append(t.node(text, text, nodes[-1:], arg=text, origin=text, loc=text))
        rule = t.rule("r")
        step = t.rewrite_begin("pass", nodes[-1])
        t.match(step, rule, nodes[0], t.node("B"), {"x": nodes[0]}, ns=1)
        t.rewrite_end(step, 0)
    with at_most(LIMIT):
        store = Store(path)
        text = json.dumps(store.bundle(1))
        store.close()
        assert len(text) < 2_000_000
        assert "more)" in text


def test_others_do_not_wait_for_a_long_bundle(tmp_path: Path) -> None:
    path = one_pass(tmp_path / "t.viz", load_graph("kernel_1271"), 6_000)
    store = Store(path)
    waits: list[float] = []
    making = threading.Thread(target=store.bundle, args=(2,))
    started = time.monotonic()
    making.start()
    while making.is_alive():
        asked = time.monotonic()
        store.refresh()
        store.run()
        store.tree()
        waits.append(time.monotonic() - asked)
    took = time.monotonic() - started
    store.close()
    assert len(waits) > 2
    assert sorted(waits)[len(waits) // 2] < took / 2


@pytest.mark.parametrize(
    "slow", ["search", "lineage", "kernel", "rule_totals", "rule_matches", "bundle"]
)
def test_stepping_does_not_wait_for_others(
    trace: Path, monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    """While one thread searches (or the like), another one gets bundles, rows and the run."""
    store = Store(trace)
    inside, leave = threading.Event(), threading.Event()
    caller = threading.current_thread()

    def stuck(original: Any) -> Any:
        def wait(*arguments: Any, **named: Any) -> Any:
            if threading.current_thread() is not caller:
                inside.set()
                assert leave.wait(PATIENCE)
            return original(*arguments, **named)

        return wait

    target, question = {
        "search": ((Index, "search"), lambda: store.search("add")),
        "lineage": ((Lineage, "work"), lambda: store.lineage(3)),
        "kernel": ((KernelReader, "origins"), lambda: store.origins(3)),
        "rule_matches": ((Matches, "work"), lambda: store.rule_matches()),
        "rule_totals": ((NodeCounts, "work"), lambda: store.rule_totals()),
        "bundle": ((Slots, "match"), lambda: store.bundle(4)),
    }[slow]
    monkeypatch.setattr(*target, stuck(getattr(*target)))
    asking = threading.Thread(target=question)
    asking.start()
    assert inside.wait(PATIENCE)
    answers: list[object] = []
    others = [
        lambda: store.bundle(2),
        lambda: store.tree(),
        lambda: store.run(),
        lambda: store.rules(),
        lambda: store.timeline(),
        store.refresh,
    ]
    for other in others:
        answers.append(other())
    assert asking.is_alive()
    leave.set()
    asking.join(PATIENCE)
    store.close()
    assert len(answers) == len(others)


def test_a_search_ends_in_time_and_goes_on_when_asked_again(tmp_path: Path) -> None:
    store = Store(one_pass(tmp_path / "t.viz", load_graph("kernel_1271"), 30_000))
    whole = len(store.files[0].event_blocks)
    assert whole > 2
    said: list[str] = []
    for _ in range(10 * whole):
        found = store.search("rule", 0.0005)
        if found["truncated"] is None:
            break
        said.append(found["truncated"])
    assert said
    assert all(s.endswith(" searched so far.") for s in said)
    assert found == store.search("rule")
    assert found == Store(store.path).search("rule")
    store.close()


def test_a_growing_trace_is_read_by_many(tmp_path: Path) -> None:
    path = tmp_path / "live.viz"
    recorder = Recorder(path).start()
    store = Store(path)
    stop = threading.Event()
    failed: list[BaseException] = []

    def read() -> None:
        try:
            while not stop.is_set():
                store.refresh()
                for row in store.tree()["rows"][-4:]:
                    if row["kind"] == "rewrite":
                        check_numbers(store.bundle(row["id"]) or pytest.fail("it is there"))
        except BaseException as error:
            failed.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for i in range(60):
            with context(f"kernel_{i}", "kernel"):
                graph_rewrite(random_graph(i), rules, name="simplify")
            recorder.flush()
    finally:
        recorder.close()
        stop.set()
        for reader in readers:
            reader.join()
    store.close()
    assert failed == []


def test_a_program_that_leaves_the_flusher_no_time_flushes(tmp_path: Path) -> None:
    """A thread that gives up the interpreter often and briefly starves all others of it."""
    path = tmp_path / "t.viz"
    recorder = Recorder(path).start()
    try:
        with (tmp_path / "noise").open("wb", buffering=0) as noise:
            end = time.monotonic() + 1.5
            begun = 0
            while time.monotonic() < end:
                with context(f"kernel_{begun}", "kernel"):
                    graph_rewrite(random_graph(begun % 50), rules, name="simplify")
                begun += 1
                noise.write(b".")
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        (kept,) = db.execute("SELECT count(*) FROM contexts").fetchone()
        db.close()
    finally:
        recorder.close()
    assert kept > begun / 3
