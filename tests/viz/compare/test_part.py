"""A recording of some kernels of a run, beside that run: only these kernels are compared."""

from __future__ import annotations

from pathlib import Path

from tests.viz.whatif.running import Here, kernel_named, record
from viz.compare.comparison import Comparison
from viz.views.store import Store
from viz.whatif.attempt import attempt
from viz.whatif.variants.tried import folder_of
from viz.whatif.variants.variant import Variant


def test_only_the_kernels_that_were_compiled_again_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "run.viz"
    record(path)
    store = Store(path)
    for variant in (Variant(skip=("multiply_add",)), Variant()):
        attempt(store, kernel_named(store, "r_"), variant, executor=Here(), running=False)
    one, other = (Store(folder_of(path) / f"{n}.viz") for n in (1, 2))
    made = Comparison(store, one).overview()
    (scope,) = made["scopes"]
    assert scope["kind"] == "kernel"
    assert {row["what"]: (row["a"], row["b"]) for row in made["totals"]}["kernels"] == (1, 1)
    assert not any("different programs" in note for note in made["notes"])
    (rule,) = [row for row in made["rules"] if row["matches"]["a"] != row["matches"]["b"]]
    assert rule["name"] == "multiply_add"
    assert Comparison(store, other).overview()["equal"]
    assert Comparison(one, other).overview()["scopes"][0]["state"] == "changed"
    swapped = Comparison(other, store).overview()
    assert [row["steps"]["a"] for row in swapped["scopes"]] == [scope["steps"]["a"]]
    for opened in (store, one, other):
        opened.close()
