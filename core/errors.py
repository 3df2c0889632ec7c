"""Every deliberate error of the project: what happened, where, and what to do about it.

Holds no logic besides composing the message. Nothing else in the project defines an exception.
"""

from __future__ import annotations


class UopvizError(Exception):
    """Base of all deliberate errors.

    `what` is one sentence, `where` names the place (a node, a kernel, the user's line), `hint`
    says what to do. The text of the exception is the three of them on lines of their own.
    """

    def __init__(self, what: str, where: str = "", hint: str = "") -> None:
        self.what, self.hint = what, hint
        self.locate(where)

    def locate(self, where: str) -> None:
        """Sets the place, for callers that know it better than the code that raised the error."""
        self.where = where
        lines = [self.what]
        if where:
            lines += [
                "  at   " + line if i == 0 else "       " + line
                for i, line in enumerate(where.splitlines())
            ]
        if self.hint:
            lines.append("  hint: " + self.hint)
        self.args = ("\n".join(lines),)

    def __reduce__(self) -> tuple[type[UopvizError], tuple[str, str, str]]:
        return type(self), (self.what, self.where, self.hint)


class ShapeError(UopvizError):
    """Shapes that do not fit together, or a movement that the shape does not allow."""


class DTypeError(UopvizError):
    """A dtype or an argument that an operation, a device or a file format does not support."""


class DeviceError(UopvizError):
    """A device that does not exist, is not present, or differs between operands."""


class EnvError(UopvizError):
    """A setting, such as an environment variable, with a value that it does not take."""

    from_environment = False
    """Whether the environment said it: no line of the program is at fault."""


class PatternError(UopvizError):
    """A rule or pattern that is declared wrongly; raised at import, not when it runs."""


class RuleError(UopvizError):
    """A rule that raised, or returned something that cannot replace its node."""


class RewriteLoopError(UopvizError):
    """A graph_rewrite without a fixed point; names the rules in the loop."""

    loop: tuple[object, ...] = ()
    """The last matches of the loop, in order, as `core.uop.engine.errors.loop_of` gives them; not
    pickled."""


class PolicyError(UopvizError):
    """A pass that cannot do without a rule, or a match, that a policy left out."""


class SpecError(UopvizError):
    """A graph that the verifier of its stage does not allow."""


class ScheduleError(UopvizError):
    """A Tensor graph that cannot be cut into kernels.

    `targets` are the BUFFER nodes of assignments that cannot be done, where that is what is wrong.
    """

    targets: tuple[object, ...] = ()


class CompileError(UopvizError):
    """A kernel that a pass could not lower or that a device compiler rejected."""


class RenderError(UopvizError):
    """An operation that a renderer has no text for."""


class RunError(UopvizError):
    """A compiled kernel that could not be run, or that failed while running."""


class AccessError(RunError):
    """A kernel that reads or writes outside of its memory, or between two elements."""


class FaultError(RunError):
    """A kernel that did, in an emulator, what a GPU leaves undefined or ends with an error.

    `kind` is one of the kinds in `core/runtime/emulator/faults.py`; `line` is that of the kernel's
    text, from 1; `block` and `thread` say which thread, as (x, y, z).
    """

    kind: str = ""
    line: int = 0
    block: tuple[int, int, int] = (0, 0, 0)
    thread: tuple[int, int, int] = (0, 0, 0)


class DriverError(RunError):
    """What a GPU's driver refused or reported; `code` is the driver's own name for it. If `lost`,
    the device does nothing more in this process."""

    code = ""
    lost = False


class GradientError(UopvizError):
    """A gradient that was asked for and does not exist."""


class FolderError(UopvizError):
    """A folder for what is kept that is not the user's own, or that there is none of."""


class FormatError(UopvizError):
    """A file that is not what it should be: truncated, of a newer version, or of another kind."""


class TraceError(UopvizError):
    """A trace that cannot be read or written."""


class MalformedNodeError(TraceError):
    """A graph that is being recorded holds something that is no node."""


class BudgetError(TraceError):
    """An answer about a trace that would exceed its budget of memory, items or time."""


class ServerError(UopvizError):
    """The explorer's server could not start or answer."""
