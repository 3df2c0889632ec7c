"""`uopviz script`: a program that reproduces what a kernel of a run does, smaller on request."""

from __future__ import annotations

import argparse
from pathlib import Path

from viz.command.whatif import chosen_kernel, trace_of, variant_of
from viz.files.regular import replace_file
from viz.terminal import put_line, say
from viz.whatif.reproduce import on_bindings, reproduction


def script(options: argparse.Namespace) -> int:
    """Writes the program, or prints it."""
    if options.bindings and options.minimise:
        options.error("--minimise makes a script that compiles the kernel: not with --bindings")
    store = trace_of(options)
    kernel = chosen_kernel(options, store)
    variant = variant_of(options, store)
    options.progress.begin("making it smaller" if options.minimise else "writing")
    if options.bindings:
        made = on_bindings(store, kernel, variant, seconds=options.seconds)
    else:
        made = reproduction(
            store, kernel, variant, minimal=options.minimise, seconds=options.seconds
        )
    options.progress.close()
    if made.said:
        say(made.said, style="hint")
    if options.output is None:
        for line in made.text.splitlines():
            put_line(line)
    else:
        replace_file(Path(options.output), made.text.encode(), is_script, "a script of this kind")
        say(f"wrote {options.output}: python {options.output}", style="hint")
    return 0


def is_script(head: bytes) -> bool:
    """Whether a file is one that this command has made."""
    return b"\n# Exit status 0: the result is that of the reference" in head
