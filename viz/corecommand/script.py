"""`uopviz script`: a program that reproduces what a kernel of a run does, smaller on request."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.errors import TraceError
from viz.command.session import trace_of
from viz.corecommand.whatif import chosen_kernel, variant_of
from viz.files.regular import check_ending, replace_file
from viz.terminal import put_line, say
from viz.views.store import Store
from viz.whatif.reproduce import on_bindings, reproduction
from viz.whatif.variants.tried import kept_one
from viz.whatif.variants.variant import Variant


def script(options: argparse.Namespace) -> int:
    """Writes the program, or prints it."""
    if options.bindings and options.minimise:
        options.error("--minimise makes a script that compiles the kernel: not with --bindings")
    if options.output is not None:
        check_ending(Path(options.output), "a script", ".py")
    store = trace_of(options)
    kernel, variant = _asked(options, store)
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


def _asked(options: argparse.Namespace, store: Store) -> tuple[int, Variant]:
    """The kernel that is meant, and how it is compiled: of a variant that is kept, or of options.
    Raises TraceError where no such variant is kept."""
    changes = options.skip or options.opts is not None or options.target
    if options.variant is None:
        if options.kernel is None:
            options.error("which kernel? --kernel NAME, or --variant N")
        return chosen_kernel(options, store), variant_of(options, store)
    if changes or options.kernel is not None:
        options.error(
            "--variant says the kernel and all that is changed: no other option beside it"
        )
    one = kept_one(store.path, options.variant, held_as=store.held_as)
    if one is None:
        raise TraceError(
            f"no variant {options.variant} of this run is kept",
            where=str(store.path),
            hint="`uopviz variants` lists those that are",
        )
    return store.kernel_of(one.kernel), one.variant


def is_script(head: bytes) -> bool:
    """Whether a file is one that this command has made."""
    return b"\n# Exit status 0: the result is that of the reference" in head
