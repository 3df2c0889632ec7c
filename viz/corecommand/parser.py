"""The arguments of the commands that compile, run or check kernels. Imports none of them."""

from __future__ import annotations

from typing import Any, Final

from viz.command.line.arguments import (
    Parser,
    choosing_run,
    executing,
    natural,
    number,
    of_trace,
    positive,
    printing,
    width,
)

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


_CHECK: Final = "check whether the steps and texts of a run are right; exit code 1: one is not"
_WHY_NOT: Final = "print why a rule did not fire at a node of a pass, or where it nearly did"
_FINDS: Final = {
    "what-if": "the kernel fails, or its result is wrong",
    "bisect": "a result or a step is wrong",
}


def add_commands(commands: Any) -> None:
    """Adds the commands to those of `uopviz`."""
    _add_why_not(commands)
    _add_variants(commands)
    _add_replay(commands)
    _add_check(commands)


def _command(commands: Any, name: str, run: str, text: str, needs: str = "") -> Parser:
    """One command. `needs`: the action that the dialect of its trace has to have."""
    made: Parser = commands.add_parser(name, help=text, description=text)
    made.set_defaults(run=f"viz.corecommand.{run}", error=made.error, needs=needs)
    return made


def _add_why_not(commands: Any) -> None:
    made = _command(commands, "why-not", "whynot:why_not", _WHY_NOT)
    made.intermixed = True
    made.usage = "uopviz why-not [TRACE] PASS [NODE] RULE [OPTION ...]"
    of_trace(made)
    made.add_argument(
        "pass_name",
        nargs="?",
        metavar="PASS",
        help="a pass: its number or name, or simplify#2 for the second",
    )
    made.add_argument(
        "node", nargs="?", metavar="NODE", help="a node, u123; without it: where RULE nearly fits"
    )
    made.add_argument("rule", nargs="?", metavar="RULE", help="a rule: its name, or its number")
    choosing_run(made)
    made.add_argument("--kernel", metavar="NAME", help="the kernel that PASS is of")
    made.add_argument(
        "--no-run",
        dest="call",
        action="store_false",
        help="do not call the rule's function again to find the line on which it declined",
    )
    made.add_argument(
        "--load",
        metavar="FILE",
        help="run this Python file of yours, in a process of its own, to have the rule from it",
    )
    printing(made)


def _add_variants(commands: Any) -> None:
    """The commands that compile kernels of a run again, otherwise than before."""
    for name, run, text in (
        ("what-if", "whatif:what_if", _WHAT_IF),
        ("variants", "whatif:variants", "list what was tried of a kernel, or of all"),
        ("bisect", "bisect:bisect", _BISECT),
        ("script", "script:script", "write a program that compiles and checks one kernel"),
    ):
        needs = "bisect" if name == "bisect" else "what-if"
        made = _command(commands, name, run, text, needs)
        made.set_defaults(finds=_FINDS.get(name, ""))
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
                help="run this text in place of the compiler's: .ll, .ptx, .cu, .hip or .wgsl",
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


def _add_replay(commands: Any) -> None:
    made = _command(commands, "replay", "replay:replay", _REPLAY, "what-if")
    made.set_defaults(finds="a kernel has become another one")
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


def _add_check(commands: Any) -> None:
    made = _command(commands, "check", "check:check", _CHECK, needs="check")
    made.set_defaults(finds="a step or the text of a kernel is wrong")
    of_trace(made)
    choosing_run(made)
    made.add_argument("--kernel", metavar="NAME", help="only this kernel: its name, number or call")
    made.add_argument(
        "--pass", dest="pass_name", metavar="NAME", help="only passes of this name, or this number"
    )
    made.add_argument("--rule", metavar="NAME", help="only steps of this rule")
    made.add_argument(
        "--jobs", type=positive, default=2, metavar="N", help="processes (default: %(default)s)"
    )
    made.add_argument(
        "--seconds",
        type=positive,
        default=600,
        metavar="N",
        help="after so many in a process, what is left is not checked (default: %(default)s)",
    )
    made.add_argument(
        "--run-seconds",
        type=natural,
        default=20,
        metavar="N",
        help="each kernel is run as a whole, too; after so many seconds no further one is begun, "
        "with 0 none (default: %(default)s)",
    )
    made.add_argument(
        "--again", action="store_true", help="do not use the results that are beside the trace"
    )
    executing(made)
    printing(made)


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
