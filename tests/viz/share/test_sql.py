"""Queries that ask for too much: too long values, functions that do not end, functions that do more
than compute."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import TraceError
from viz.share.sql import FUNCTIONS, run_query

ENDLESS = "select instr(hex(zeroblob(20000000)), hex(zeroblob(10000000)) || '1')"
"""One call of a function that takes hours, within which SQLite cannot be interrupted."""
INTERRUPTED = """
import os, sys, threading, time
import viz.share.sql
from viz.cli import main

def interrupt():
    while not any(thread.name == "query" for thread in threading.enumerate()):
        time.sleep(0.01)
    time.sleep(0.2)  # it is in the function by now, or is about to call it: both have to end
    os.kill(os.getpid(), int(sys.argv[1]))

if int(sys.argv[1]):
    threading.Thread(target=interrupt, daemon=True).start()
else:
    viz.share.sql.SECONDS = 0.2
sys.exit(main(["query", *sys.argv[2:]]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 128 + signal.SIGINT, "interrupted"),
        (signal.SIGTERM, 128 + signal.SIGTERM, ""),
        (0, 2, "this query takes more than 0.2 seconds"),
    ],
)
def test_a_function_that_does_not_end(trace: Path, number: int, code: int, said: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(int(number)), str(trace), ENDLESS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "value", ["zeroblob(100000000)", "group_concat(hex(zeroblob(100000000)))", "zeroblob(1 << 40)"]
)
def test_values_have_a_largest_length(value: str) -> None:
    with pytest.raises(TraceError, match="too big"):
        run_query((), f"select {value}")


@pytest.mark.parametrize(
    "call",
    [
        "printf('%.*c', 2147483647, 'x')",
        "format('%.2147483647c', 'x')",
        "printf('%d %n%%%-*.*c', 1, 3, '2147483647 and more', 'x')",
    ],
)
def test_padding_has_a_largest_length(call: str) -> None:
    """SQLite counts to the length, beyond any time limit, though it has no room for the text."""
    with pytest.raises(TraceError, match="may not pad"):
        run_query((), f"select {call}")


def test_texts_are_formatted_as_by_sqlite() -> None:
    own = sqlite3.connect(":memory:")
    for call in (
        "printf()",
        "printf(NULL)",
        "printf('%d')",
        "printf('%5.2f|%-5s|%05d|%,d|%s|%!g', 1.234, 'a', 3, 1234567, NULL, 0.1)",
        "format('%*d %.*f %d', 5, 1, 2, 1.2345, 4000000000)",
        "printf('%q %Q %w %%', 'it''s', 'b', 'c')",
    ):
        assert run_query((), f"select {call}")[1] == own.execute(f"select {call}").fetchall()
    own.close()


@pytest.mark.parametrize(
    "call", ["fts3_tokenizer('simple')", "load_extension('x')", "sqlite_log(1, 'x')"]
)
def test_functions_that_do_more_than_compute(call: str) -> None:
    name = call.partition("(")[0]
    assert name not in FUNCTIONS
    with pytest.raises(TraceError, match=f"it may not call {name}"):
        run_query((), f"select {call}")


def test_what_is_read_are_tables_of_the_trace() -> None:
    assert run_query((), "select value from json_each('[1, 2]')")[1] == [(1,), (2,)]
    assert ("nodes",) in run_query((), "select name from sqlite_schema")[1]
    counted = (
        "with n(x) as (select 1 union all select x + 1 from n where x < 9) select count(*) from n"
    )
    assert run_query((), counted)[1] == [(9,)]
    for table in ("dbstat", "sqlite_dbpage", "fts3tokenize", "pragma_database_list"):
        with pytest.raises(TraceError, match=r"query failed"):
            run_query((), f"select * from {table}")
