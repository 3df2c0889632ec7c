"""Other values in what a trace has packed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from viz.format import schema
from viz.format.blocks import REWRITES
from viz.format.pack import pack_json, unpack_json


def change_rewrites(trace: Path, **values: int) -> int:
    """Gives all packed rewrites these values in columns of REWRITES; how many rewrites that are."""
    changed = 0
    with closing(sqlite3.connect(trace)) as db, db:
        for block, data in db.execute(_OF_KIND, (schema.REWRITES,)).fetchall():
            columns = REWRITES.unpack(data)
            for name, value in values.items():
                columns[name][:] = value
            db.execute(_CHANGE, (REWRITES.pack([*columns.values()]), block))
            changed += len(columns["id"])
    return changed


def change_rules(trace: Path, **values: object) -> int:
    """Gives all rules these values in their fields; how many rules that are."""
    changed = 0
    with closing(sqlite3.connect(trace)) as db, db:
        for block, data in db.execute(_OF_KIND, (schema.RULES,)).fetchall():
            rules = [rule | values for rule in unpack_json(data)]
            db.execute(_CHANGE, (pack_json(rules), block))
            changed += len(rules)
    return changed


_OF_KIND = "SELECT id, data FROM blocks WHERE kind = ?"
_CHANGE = "UPDATE blocks SET data = ? WHERE id = ?"
