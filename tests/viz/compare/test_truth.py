"""Pairs of runs, made with a known difference: the overview names exactly that. 300 of them every
night."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.dtype import dtypes
from core.uop.uop import UOp
from tests.fuzzing import cases
from tests.viz.compare.made import RULES, Made, Program, compare, opts, program, record, states

Change = Callable[[Program, random.Random], Program]
EACH = 8
"""Pairs of each of ten kinds, without `--fuzz`."""


def nothing(before: Program, _: random.Random) -> Program:
    return before


def rule_off(before: Program, choose: random.Random) -> Program:
    off = choose.choice(RULES)
    return replace(before, rules=tuple(rule for rule in before.rules if rule is not off))


def order_of_rules(before: Program, choose: random.Random) -> Program:
    return replace(before, rules=tuple(choose.sample(before.rules, len(before.rules))))


def opts_of_one(before: Program, choose: random.Random) -> Program:
    at = choose.randrange(len(before.kernels))
    changed = (replace(k, opts=opts(4)) if i == at else k for i, k in enumerate(before.kernels))
    return replace(before, kernels=tuple(changed))


def dtype_of_all(before: Program, _: random.Random) -> Program:
    return replace(before, kernels=tuple(replace(k, dtype=dtypes.long) for k in before.kernels))


def names_of_kernels(before: Program, choose: random.Random) -> Program:
    renamed = (replace(k, name=f"r_{choose.randrange(1 << 20)}_{i}")
               for i, k in enumerate(before.kernels))  # fmt: skip
    return replace(before, kernels=tuple(renamed))


def numbers_of_nodes(before: Program, choose: random.Random) -> Program:
    """Buffers are always others; here every node of the trace has another number, too."""
    return replace(before, before=1)


def order_of_kernels(before: Program, choose: random.Random) -> Program:
    return replace(before, kernels=tuple(choose.sample(before.kernels, len(before.kernels))))


def one_more(before: Program, choose: random.Random) -> Program:
    more = replace(before.kernels[0], seed=choose.randrange(10**6, 10**7), call="more", name="M_1")
    return replace(before, kernels=(*before.kernels, more))


def one_less(before: Program, choose: random.Random) -> Program:
    gone = choose.randrange(len(before.kernels))
    return replace(before, kernels=before.kernels[:gone] + before.kernels[gone + 1 :])


CHANGES: tuple[Change, ...] = (
    nothing,
    rule_off,
    order_of_rules,
    opts_of_one,
    dtype_of_all,
    names_of_kernels,
    numbers_of_nodes,
    order_of_kernels,
    one_more,
    one_less,
)
EQUAL = {"nothing", "names_of_kernels", "order_of_kernels"}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_the_overview_names_exactly_what_was_changed(
    tmp_path: Path, change: Change, pytestconfig: pytest.Config
) -> None:
    changed, count = 0, cases(pytestconfig, EACH)
    for seed in range(count):
        choose = random.Random(f"{change.__name__} {seed}")
        before = program(seed, kernels=choose.randrange(2, 5))
        after = change(before, choose)
        graphs: dict[int, UOp] = {}
        # where graphs are compared as objects, both runs have the same buffers
        shared = graphs if change in (rule_off, order_of_rules, opts_of_one) else None
        a = record(before, tmp_path / f"a{seed}.viz", shared)
        b = record(after, tmp_path / f"b{seed}.viz", shared)
        found = compare(a.path, b.path)
        said = f"{change.__name__}, seed {seed}"
        expected = truth(change, before, after, a, b)
        assert states(found) == expected, said
        few = [note for note in found["notes"] if note.startswith("These runs have little")]
        assert found["done"] and found["notes"] == few, said
        assert bool(few) == (change is dtype_of_all), said
        check_rules(found, a, b, said)
        if change.__name__ in EQUAL:
            assert found["equal"], said
        changed += not found["equal"]
    assert changed == 0 if change.__name__ in EQUAL else changed >= count // 6


def truth(change: Change, before: Program, after: Program, a: Made, b: Made) -> dict[str, str]:
    """The state of each kernel, by what the engine did."""
    if change in (rule_off, order_of_rules, opts_of_one):
        return {
            name: "equal" if [p.key() for p in a.truth.kernels[name]] == [p.key() for p in passes]
            else "changed"
            for name, passes in b.truth.kernels.items()
        }  # fmt: skip
    names = {kernel.name for kernel in after.kernels}
    if change is dtype_of_all:
        return dict.fromkeys(names, "changed")
    found = dict.fromkeys(names, "equal")
    if change is one_more:
        found["M_1"] = "added"
    if change is one_less:
        found |= {k.name: "removed" for k in before.kernels if k.name not in names}
    return found


def check_rules(found: dict, a: Made, b: Made, said: str) -> None:
    """Matches of every rule are those that the engine made."""
    of_a, of_b = a.truth.matches, b.truth.matches
    rules = {rule["name"]: rule for rule in found["rules"]}
    for name in {*of_a, *of_b}:
        rule = rules[name]
        counts = rule["matches"]["a"] or 0, rule["matches"]["b"] or 0
        assert counts == (of_a[name], of_b[name]), f"{said}: {name}"
        if of_a[name] == of_b[name]:
            assert rule["state"] == "equal", said
        elif not of_b[name] or not of_a[name]:
            assert rule["state"] == ("new" if of_b[name] else "gone"), said
        else:
            assert rule["state"] == ("more" if of_b[name] > of_a[name] else "less"), said
