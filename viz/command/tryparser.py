"""The arguments of the commands that compile kernels of a run again. Imports none of them."""

from __future__ import annotations

from typing import Any, Final

from viz.command.arguments import Parser, choosing_run, number, of_trace, positive, printing, width

_WHAT_IF: Final = (
    "compile a kernel otherwise, run it beside the old one, and print what differs; exit code 1: "
    "it fails, or its result is wrong"
)
_BISECT: Final = (
    "print which match of which rule made the result of a kernel wrong, or that of any kernel of "
    "the run; exit code 0: no difference was found, 1: something is wrong, 2: that cannot be told"
)
_REPLAY: Final = (
    "compile kernels again with the code on disk, and print what differs; exit code 0: nothing, 1: "
    "something does, 2: that cannot be told"
)


def add_trying(commands: Any) -> None:
    """The commands that compile kernels of a run again."""
    for name, run, text in (
        ("what-if", "whatif:what_if", _WHAT_IF),
        ("variants", "whatif:variants", "list what was tried of a kernel, or of all"),
        ("bisect", "bisect:bisect", _BISECT),
        ("script", "script:script", "write a program that compiles and checks one kernel"),
    ):
        made = commands.add_parser(name, help=text, description=text)
        made.set_defaults(run=f"viz.command.{run}", error=made.error)
        of_trace(made, json=name != "script")
        choosing_run(made)
        made.add_argument(
            "--kernel",
            metavar="NAME",
            required=name == "what-if",
            help="a kernel: its name, the beginning of it, its number, or a call such as Conv2d"
            + ("; left out: the whole run" if name == "bisect" else ""),
        )
        if name != "variants":
            _varying(made)
        if name in ("what-if", "bisect"):
            executing(made)
        if name == "what-if":
            made.add_argument(
                "--stop-after", type=number, metavar="N", help="nothing matches after N matches"
            )
            made.add_argument(
                "--in",
                dest="inside",
                metavar="PASS",
                help="--skip and --stop-after hold in the rewrites of this name only; simplify#2: "
                "--stop-after counts in the second of them",
            )
            made.add_argument(
                "--search",
                type=width,
                metavar="N",
                help="apply what a beam search of this width finds, on the device of this machine "
                "for the target; half of --seconds is for the search; Ctrl-C ends it and prints "
                "the best so far",
            )
            made.add_argument(
                "--replay", action="store_true", help="change nothing but use the code on disk"
            )
            made.add_argument(
                "--text",
                metavar="FILE",
                help="run this text in place of the compiler's: .ll, .ptx, .cu or .hip",
            )
            made.add_argument(
                "--device", metavar="NAME", help="what runs --text, such as CPU, CUDA or PTX:EMU"
            )
            made.add_argument(
                "--no-run", dest="run_it", action="store_false", help="compile, and run nothing"
            )
            made.add_argument(
                "--no-keep", dest="keep", action="store_false", help="keep nothing by the trace"
            )
        if name == "script":
            made.add_argument(
                "--variant",
                type=number,
                metavar="N",
                help="the variant with this number of `uopviz variants`, in place of --kernel",
            )
            made.add_argument(
                "--minimise",
                action="store_true",
                help="make the kernel smaller, as long as it fails, is wrong, or differs",
            )
            made.add_argument(
                "--bindings",
                action="store_true",
                help="PTX and a launch of it: needs cuda-bindings and NumPy, and no uopviz",
            )
            made.add_argument("-o", "--output", metavar="FILE", help="default: print it")
        if name == "bisect":
            made.add_argument(
                "--jobs",
                type=positive,
                metavar="N",
                help="processes for a whole run (default: one for each processor, at most 4)",
            )
        printing(made)

    made = commands.add_parser("replay", help=_REPLAY, description=_REPLAY)
    made.set_defaults(run="viz.command.replay:replay", error=made.error)
    of_trace(made)
    choosing_run(made)
    made.add_argument(
        "--kernel",
        metavar="NAME",
        help="this kernel only: its name, the beginning of it, its number, or a call",
    )
    made.add_argument("--all", action="store_true", help="list the kernels that are equal, too")
    made.add_argument(
        "--seconds",
        type=positive,
        default=120,
        metavar="N",
        help="end a worker after so long (default: %(default)s)",
    )
    made.add_argument(
        "-o", "--output", metavar="FOLDER", help="keep what was recorded there, as traces"
    )
    executing(made)
    printing(made)


def executing(made: Parser) -> None:
    """Where the work is done."""
    made.add_argument(
        "--executor",
        metavar="ADDRESS",
        help="work there: dask://HOST:PORT or ray://HOST:PORT (default: on this machine)",
    )


def _varying(made: Parser) -> None:
    """In what a kernel is compiled otherwise."""
    made.add_argument(
        "--skip",
        action="append",
        default=[],
        metavar="RULE",
        help="leave this rule out; repeatable",
    )
    made.add_argument(
        "--opts",
        metavar="LIST",
        help="apply these optimisations, such as 'UPCAST(0, 4) UNROLL(0, 0)'; '' for none",
    )
    made.add_argument("--target", metavar="NAME", help="compile for this target, such as sm_90")
    made.add_argument(
        "--seconds",
        type=positive,
        default=120,
        metavar="N",
        help="end the worker after so long (default: %(default)s)",
    )
