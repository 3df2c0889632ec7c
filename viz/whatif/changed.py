"""Which rules, and in which files, have changed since a run was recorded.

A rule is compared by its recorded text, and only in files of this installation or ones that this
user vouches for (viz/views/since). Never runs a rule.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from viz.views.store import Store


@dataclass(frozen=True)
class Changed:
    """A rule whose text is another one now, or is gone. `line`: where it, or what goes by its name,
    begins today; 0 where it is gone."""

    name: str
    file: str
    line: int
    gone: bool

    def __str__(self) -> str:
        if self.gone:
            return f"{self.name} is gone from {_short(self.file)}"
        return f"{self.name} changed, {_short(self.file)}:{self.line}"

    def data(self) -> dict[str, Any]:
        """As JSON, with the sentence that says it."""
        return {**asdict(self), "said": str(self)}


def changed_rules(store: Store) -> list[Changed]:
    """The rules that matched or were tried in a run and have changed since, by file and line. Rules
    that have only moved are not among them. Raises BudgetError."""
    records = store.rule_records()
    found = [
        Changed(
            records[row["rule"]].name,
            records[row["rule"]].file,
            row["line"],
            row["state"] == "gone",
        )
        for row in store.since()["rules"]
        if row["state"] in ("changed", "gone") and row["rule"] in records
    ]
    return sorted(found, key=lambda one: (one.file, one.line, one.name))


def _short(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2]
