"""Executes FX graphs of a trace, in the Python of the user: the standard library and PyTorch alone.

Reads one request as JSON from standard input: `nodes` with op, dtype, argument, shape and sources,
`roots` of graphs to compare each with the one before it; `ordered`: the nodes up to a root are the
statements of its program, in order. Answers with a line of JSON for each. A trace is a stranger's:
ops are looked up in PyTorch's own tables of operators on tensors, none by a name of a module, and
nothing is read from files.
"""

from __future__ import annotations

import importlib
import itertools
import json
import math
import operator
import sys
import zlib
from typing import Any

SAMPLES = 3
_LARGEST = 1 << 26
"""Elements of a tensor."""
_TOGETHER = 1 << 29
"""Elements of all values that are kept: 4 GB in float64."""
_TIGHT = 2e-6
"""Of the largest value, in float64: constants of one graph may have been rounded to float32."""
_LOOSE = {"float64": 1e-9, "float32": 1e-4, "bfloat16": 4e-2, "float16": 8e-3}
"""Where conversions differ, by the least dtype among them: what roundings may come to."""
_REFUSED = ("from_file", "_print", "save", "load", "record_stream", "_debug", "sym_constrain")
_NAMESPACES = ("aten", "prims")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FUNCTIONS = _names(
    "abs add addmm amax amin any all argmax argmin baddbmm bmm cat ceil chunk clamp clone conv1d "
    "conv2d cos cumsum div einsum eq erf exp expand flatten floor full full_like gather ge gt "
    "index_select isnan layer_norm le linear log log_softmax logsumexp lt masked_fill matmul max "
    "maximum mean min minimum mm mul ne neg norm ones ones_like outer permute pow prod reciprocal "
    "relu reshape round rsqrt sigmoid sign silu gelu sin softmax split sqrt square squeeze stack "
    "std sub sum swapaxes t tanh tile transpose tril triu unbind unflatten unsqueeze var view "
    "where zeros zeros_like contiguous float double half bfloat16 to type_as size dim numel "
    "expand_as view_as narrow select slice scaled_dot_product_attention batch_norm group_norm "
    "max_pool2d avg_pool2d adaptive_avg_pool2d embedding pad dropout leaky_relu elu hardtanh relu6 "
    "softplus"
)
_OPERATORS = _names(
    "add sub mul truediv floordiv mod neg pow getitem eq ne lt le gt ge and_ or_ xor matmul"
)
_RANDOM = ("rand", "bernoulli", "dropout", "normal", "uniform", "multinomial", "philox")


class CannotError(Exception):
    """A graph cannot be executed; its text says why."""


class Room:
    """How many elements may still be kept."""

    def __init__(self) -> None:
        self.left = _TOGETHER

    def take(self, value: Any) -> None:
        """Takes what a value needs. Raises CannotError where there is not that much."""
        count = elements(value)
        if count > self.left:
            raise CannotError("the values of the graph take too much memory")
        self.left -= count


class Graphs:
    """Values of nodes on one sample. `wide`: floats are float64, whatever they are in the graph."""

    def __init__(
        self, torch: Any, nodes: list[Any], sample: int, wide: bool, room: Room | None = None
    ) -> None:
        self.torch, self.nodes, self.sample, self.wide = torch, nodes, sample, wide
        self.room = Room() if room is None else room
        self.values: dict[int, Any] = {}
        self.random: dict[int, frozenset[Any]] = {}

    def of(self, root: int) -> list[Any]:
        """The values of a graph: its outputs, and what it writes to its inputs."""
        stack = [root]
        while stack:
            at = stack[-1]
            if at in self.values:
                stack.pop()
                continue
            missing = [s for s in self.nodes[at][4] if s not in self.values]
            if missing:
                stack += missing
                continue
            stack.pop()
            value = self.value(at)
            self.room.take(value)
            self.values[at] = value
            below = [self.random[s] for s in self.nodes[at][4]]
            own = frozenset([at]) if self.is_random(at) else frozenset()
            self.random[at] = own.union(*below)
        return flat(self.values[root])

    def keep(self, root: int) -> None:
        """Lets go of the values that a graph does not have."""
        below, stack = {root}, [root]
        while stack:
            for source in self.nodes[stack.pop()][4]:
                if source not in below:
                    below.add(source)
                    stack.append(source)
        for at in [at for at in self.values if at not in below]:
            self.room.left += elements(self.values.pop(at))

    def is_result(self, at: int) -> bool:
        op = self.nodes[at][0]
        parts = op.split(".")
        return op == "output" or (len(parts) > 1 and parts[1].endswith("_"))

    def is_random(self, at: int) -> bool:
        return any(word in self.nodes[at][0] for word in _RANDOM)

    def value(self, at: int) -> Any:
        op, dtype, arg, shape, sources = self.nodes[at]
        given = [self.values[s] for s in sources]
        if op == "graph":  # what nothing reads and writes nothing is no part of the result
            return [v for s, v in zip(sources, given, strict=True) if self.is_result(s)]
        if op in ("placeholder", "get_attr"):
            return self.input(at, dtype, arg, shape)
        if op == "call_module":
            raise CannotError("a module of the program is called")
        arguments = json.loads(arg) if arg else ["$0"]
        if op in ("output", "results"):
            return self.argument(arguments, given)
        if op == "number":
            return arguments[0]
        args = [self.argument(one, given) for one in arguments]
        kwargs = {}
        if args and isinstance(arguments[-1], dict) and "kw" in arguments[-1]:
            kwargs = args.pop()
        if self.is_random(at):
            self.torch.manual_seed(zlib.crc32(self.seed(at).encode()))
        made = self.called(op, args, kwargs)
        for one in flat(made):
            if hasattr(one, "numel") and one.numel() > _LARGEST:
                raise CannotError("a tensor is too large")
        return made

    def seed(self, at: int) -> str:
        """What the random numbers of a node follow from."""
        op, _, arg, shape, sources = self.nodes[at]
        return f"{op}{arg}{shape}{sources}"

    def attributes(self, root: int) -> set[str]:
        """The constants of the module that a graph reads."""
        del root
        return set()

    def called(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What an op gives: its value, not what happens to what it writes."""
        if op.startswith("aten.copy_."):
            return args[1].expand_as(args[0]) if hasattr(args[1], "expand_as") else args[1]
        function = self.function(op, args)
        written = mutable(function)
        if written:
            args = [a.clone() if n in written and hasattr(a, "clone") else a
                    for n, a in enumerate(args)]  # fmt: skip
        return function(*args, **kwargs)

    def function(self, op: str, args: list[Any]) -> Any:
        """What an op calls. Raises CannotError."""
        torch, parts = self.torch, op.split(".")
        if any(word in op for word in _REFUSED):
            raise CannotError(f"{op} is not executed")
        if parts[0] in _NAMESPACES and len(parts) == 3:
            found = operator_of(torch, parts)
            if found is not None:
                return found
        if op in _FUNCTIONS and hasattr(torch, op):
            return getattr(torch, op)
        if parts[0] == "operator" and parts[-1] in _OPERATORS:
            return getattr(operator, parts[-1])
        if op == "getitem":
            return operator.getitem
        if op.startswith(".") and op[1:].removesuffix("_") in _FUNCTIONS and args:
            return _method(op[1:])
        if parts[0] == "torch" and parts[-1] in _FUNCTIONS:
            for where in (torch.nn.functional, torch):
                if hasattr(where, parts[-1]):
                    return getattr(where, parts[-1])
        raise CannotError(f"there is no meaning of {op} here")

    def argument(self, value: Any, given: list[Any]) -> Any:
        if isinstance(value, str):
            return given[int(value[1:])]
        if isinstance(value, list):
            return [self.argument(one, given) for one in value]
        if not isinstance(value, dict):
            return value
        (key, inner), *_ = value.items()
        if key == "kw":
            return {name: self.argument(one, given) for name, one in inner.items()}
        if key == "float":
            return float(inner)
        if key == "int":
            return int(inner)
        if key == "text":
            return inner
        if key == "tuple":
            return tuple(self.argument(one, given) for one in inner)
        if key == "ellipsis":
            return ...
        if key == "slice":
            return slice(*(self.argument(one, given) for one in inner))
        if key == "device":
            return self.torch.device("cpu")
        if key == "torch":
            return self.named(inner)
        raise CannotError(f"the argument {str(inner)[:60]} is not one that can be made again")

    def named(self, text: str) -> Any:
        found = _attribute(self.torch, text.removeprefix("torch."))
        kinds = (self.torch.dtype, self.torch.layout, self.torch.memory_format)
        if not isinstance(found, kinds):
            raise CannotError(f"there is no {text} here")
        if self.wide and isinstance(found, self.torch.dtype) and found.is_floating_point:
            return self.torch.float64
        return found

    def input(self, at: int, dtype: str, arg: str, shape: str) -> Any:
        """Numbers for an input, the same for the same input."""
        torch = self.torch
        kind = _attribute(torch, dtype)
        sizes, strides, name = sizes_of(arg, shape)
        if not isinstance(kind, torch.dtype) or sizes is None:
            raise CannotError(f"input {name} has no shape or dtype that is known")
        if math.prod(sizes) > _LARGEST:
            raise CannotError("an input is too large")
        seed = zlib.crc32(f"{name}{sizes}{self.sample}".encode())
        random = torch.Generator().manual_seed(seed)
        if kind.is_floating_point or kind.is_complex:
            made = self.floats(sizes, random)
            made = made if self.wide else made.to(kind)
        elif kind is torch.bool:
            made = torch.randint(0, 2, sizes, generator=random).bool()
        else:
            made = torch.randint(0, 4 if self.sample else 2, sizes, generator=random).to(kind)
        if strides is not None and sizes and len(strides) == len(sizes) and 0 not in sizes:
            room = 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
            if min(strides) >= 0 and room <= _LARGEST and [*made.stride()] != strides:
                laid = made.new_zeros(room).as_strided(sizes, strides)
                if 0 not in strides:
                    laid.copy_(made)
                    made = laid
        return made

    def floats(self, sizes: list[int], random: Any) -> Any:
        torch = self.torch
        made = torch.randn(sizes, generator=random, dtype=torch.float64)
        if self.sample == 1:
            return made.abs() + 0.1
        if self.sample == 2:  # zeros, ones and large numbers among plain ones
            pick = torch.randint(0, 8, sizes, generator=random)
            made = torch.where(pick == 0, torch.zeros_like(made), made)
            made = torch.where(pick == 1, torch.ones_like(made), made)
            made = torch.where(pick == 2, made * 8, made)
        return made.to(torch.float32).to(torch.float64)


class Programs(Graphs):
    """Values of programs: the nodes up to a root and behind the root before it are the statements
    of its program, which are executed in order, and what they write is written."""

    def of(self, root: int) -> list[Any]:
        """The results of a program."""
        if root in self.values:
            return flat(self.values[root])
        statements = range(self.begin(root), root + 1)
        last = {s: at for at in statements for s in self.nodes[at][4]}
        drawn: list[str] = []
        for at in statements:
            if self.is_random(at):
                drawn.append(self.nodes[at][0])
            self.random[at] = frozenset(enumerate(drawn))
            value = self.value(at)
            self.room.take(value)
            self.values[at] = value
            for s in {*self.nodes[at][4]}:
                if last[s] == at:
                    self.room.left += elements(self.values.pop(s))
        for at in statements[:-1]:
            self.room.left += elements(self.values.pop(at, None))
        return flat(self.values[root])

    def begin(self, root: int) -> int:
        """The first statement of the program with these results."""
        at = root
        while at and self.nodes[at - 1][0] != "results":
            at -= 1
        return at

    def seed(self, at: int) -> str:
        """The operation, and how many random ones come before it."""
        return f"{self.nodes[at][0]}{sum(map(self.is_random, range(self.begin(at), at)))}"

    def attributes(self, root: int) -> set[str]:
        """The constants of the module that a program reads."""
        read = (self.nodes[at] for at in range(self.begin(root), root))
        return {arg for op, _, arg, _, _ in read if op == "get_attr"}

    def called(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What a statement gives."""
        return self.function(op, args)(*args, **kwargs)


def operator_of(torch: Any, parts: list[str]) -> Any:
    """An operator by its namespace, name and overload; None for none. Inductor has some of its
    own, which are there once it has been imported."""
    for inductor in (False, True):
        if inductor:
            try:
                importlib.import_module("torch._inductor.inductor_prims")
            except Exception:
                return None
        packet = getattr(getattr(torch.ops, parts[0]), parts[1], None)
        found = getattr(packet, parts[2], None)
        if found is not None:
            return found
    return None


def sizes_of(arg: str, shape: str) -> tuple[Any, Any, str]:
    sizes = strides = None
    name = ""
    for one in json.loads(arg) if arg else []:
        if isinstance(one, dict):
            name = str(one.get("text", name))
            sizes, strides = one.get("shape", sizes), one.get("stride", strides)
    if sizes is None:
        parts = shape.split("x") if shape else []
        sizes = [int(n) for n in parts] if all(n.isdecimal() for n in parts) else None
    ok = sizes is None or all(type(n) is int and n >= 0 for n in sizes)
    return (sizes if ok else None), strides, name


def mutable(function: Any) -> set[int]:
    """Which arguments an op writes."""
    schema = getattr(function, "_schema", None)
    found = set()
    for at, one in enumerate(schema.arguments if schema is not None else ()):
        if one.alias_info is not None and one.alias_info.is_write:
            found.add(at)
    return found


def elements(value: Any) -> int:
    """How many numbers a value holds."""
    return sum(one.numel() for one in flat(value) if hasattr(one, "numel"))


def flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in flat(part)]
    return [] if value is None else [value]


def compare(torch: Any, before: list[Any], after: list[Any], share: float) -> str:
    """Where two lists of values differ by more than a share of the largest; "" for nowhere."""
    if len(before) != len(after):
        return f"{len(before)} outputs before, {len(after)} after"
    for at, (a, b) in enumerate(zip(before, after, strict=True)):
        if not hasattr(a, "shape") or not hasattr(b, "shape"):
            if a != b and not (a != a and b != b):
                return f"output {at}: {a} before, {b} after"
            continue
        if a.shape != b.shape:
            return f"output {at}: shape {[*a.shape]} before, {[*b.shape]} after"
        if a.dtype != b.dtype:
            return f"output {at}: {a.dtype} before, {b.dtype} after"
        x, y = a.detach().to(torch.float64).reshape(-1), b.detach().to(torch.float64).reshape(-1)
        finite = torch.isfinite(x) & torch.isfinite(y)
        same = (x == y) | (torch.isnan(x) & torch.isnan(y))
        if a.dtype.is_floating_point:
            largest = float(x[finite].abs().max()) if bool(finite.any()) else 0.0
            same |= finite & ((x - y).abs() <= share * max(largest, 1e-30))
        if not bool(same.all()):
            bad = int((~same).nonzero()[0])
            return (
                f"output {at}, element {bad}: {float(x[bad]):.9g} before, {float(y[bad]):.9g} "
                f"after; {int((~same).sum()):,} of {x.numel():,} elements"
            )
    return ""


def conversions(nodes: list[Any], root: int) -> list[str]:
    """The dtypes of what converts between floats in a graph."""
    seen, stack, found = {root}, [root], []
    while stack:
        at = stack.pop()
        op, dtype, _, _, sources = nodes[at]
        if "_to_copy" in op or "convert_element_type" in op or op == ".to":
            found.append(dtype)
        for s in sources:
            if s not in seen:
                seen.add(s)
                stack.append(s)
    return sorted(found)


def out_of_memory(error: Exception) -> bool:
    """Whether this says something of the machine, and nothing of the graph."""
    return isinstance(error, MemoryError) or "allocate memory" in str(error)


def raised(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"it raises {type(error).__name__}: {lines[0] if lines else ''}"[:200]


class Judge:
    def __init__(self, torch: Any, nodes: list[Any], ordered: bool = False) -> None:
        self.torch, self.nodes, self.ordered = torch, nodes, ordered
        self.room = Room()
        kind = Programs if ordered else Graphs
        self.graphs = {
            wide: [kind(torch, nodes, sample, wide, self.room) for sample in range(SAMPLES)]
            for wide in (True, False)
        }

    def next(self, root: int) -> None:
        """The next step begins at a graph: where room is scarce, only its values stay."""
        if self.room.left < _TOGETHER // 2:
            for graphs in (*self.graphs[True], *self.graphs[False]):
                graphs.keep(root)

    def judge(self, before: int, after: int) -> dict[str, Any]:
        """What is known of a step: "same", "differs" or "unknown", and why."""
        moved = conversions(self.nodes, before) != conversions(self.nodes, after)
        why, agreed = "", 0
        for sample in range(SAMPLES):
            try:
                said = self.compare(before, after, sample, wide=not moved)
            except CannotError as error:
                return {"kind": "unknown", "why": str(error)}
            except Exception as error:
                why = raised(error)
                if (said := self.is_broken(before, after, sample)) is not None:
                    return {"kind": "differs", "why": f"values before, {said} after"}
                continue
            if said:
                return {"kind": "differs", "why": said, "sample": sample}
            agreed += 1
        if not agreed:
            return {"kind": "unknown", "why": why}
        return {"kind": "same", "samples": agreed, "loose": moved}

    def is_broken(self, before: int, after: int, sample: int) -> str | None:
        """What a graph raises in its own dtypes, where the one before it can be executed."""
        graphs = self.graphs[False][sample]
        try:
            graphs.of(before)
        except Exception:
            return None
        try:
            graphs.of(after)
        except (CannotError, NotImplementedError):
            return None
        except Exception as error:
            return None if out_of_memory(error) else raised(error)
        return None

    def compare(self, before: int, after: int, sample: int, wide: bool) -> str:
        graphs = self.graphs[wide][sample]
        old, new = graphs.of(before), graphs.of(after)
        share = _TIGHT if wide else self.loose(before, after)
        said = compare(self.torch, old, new, share)
        if said and graphs.random[before] != graphs.random[after]:
            raise CannotError("random numbers are drawn otherwise")
        if said and graphs.attributes(before) != graphs.attributes(after):
            raise CannotError("the values of constants of the module are not known")
        if said and not wide and self.ordered and ", element " in said:
            graphs = self.graphs[True][sample]
            if not compare(self.torch, graphs.of(before), graphs.of(after), _TIGHT):
                raise CannotError("what it rounds is more than its narrow dtypes can be held to")
        if said and wide:  # an op that only has a meaning in its own dtype
            graphs = self.graphs[False][sample]
            own = compare(self.torch, graphs.of(before), graphs.of(after), share)
            return said if own else ""
        return said

    def loose(self, before: int, after: int) -> float:
        found = {*conversions(self.nodes, before), *conversions(self.nodes, after)}
        return max([_LOOSE.get(dtype, 1e-4) for dtype in found], default=1e-4)


def _method(name: str) -> Any:
    """The method of whatever is given first."""

    def call(this: Any, *rest: Any, **named: Any) -> Any:
        return getattr(this, name)(*rest, **named)

    return call


def _attribute(of: Any, name: str) -> Any:
    return getattr(of, name, None)


def main() -> int:
    """Answers the request."""
    request = json.loads(sys.stdin.read())
    try:
        import torch  # pyright: ignore[reportMissingImports]  # of the user's Python
    except Exception as error:
        print(json.dumps({"error": f"PyTorch cannot be imported: {error!r}"[:300]}), flush=True)
        return 0
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    nodes, roots = request["nodes"], request["roots"]
    judge = Judge(torch, nodes, request.get("ordered") is True)
    for before, after in itertools.pairwise(roots):
        if before == after:
            found = {"kind": "same", "samples": 0, "loose": False}
        else:
            judge.next(before)
            found = judge.judge(before, after)
        print(json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
