"""FX graphs, whose nodes change in place, told as nodes that never change.

Each FX node keeps the number of what was written of it last. What a match creates is written when
it is over; users of what was replaced stay as they are, since the reader keeps their edges. At the
end of a pass all that is not as it was written is written anew, sources first. The name of a node,
which is its own in its graph, is its tag: equal twins stay two.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from _uopviz_tap.passtexts import Printed
from _uopviz_tap.stream import Stream, encode

_MAX_ARG = 2000
_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)')
_ASSIGNED = re.compile(r'\s*(\w+)(?:: "[^"]*")? = ')
"""A line of a printed graph."""
_PLAIN = (bool, int, type(None))


class Made:
    """What a match made: the node it replaced, what that became, and other nodes that changed."""

    def __init__(self, old: int, new: int, rebuilt: list[tuple[int, int]]) -> None:
        self.old, self.new, self.rebuilt = old, new, rebuilt


class Rest:
    """What is left at the end of a pass: the graph, the first change that is more than other
    sources (None for none), and nodes that are other ones now."""

    def __init__(
        self, sink: int, first: tuple[int, int] | None, rebuilt: list[tuple[int, int]]
    ) -> None:
        self.sink, self.first, self.rebuilt = sink, first, rebuilt


class _Written:
    """How a node was written last."""

    def __init__(self, number: int, own: tuple[str, str, str], sources: list[int]) -> None:
        self.number, self.own, self.sources = number, own, sources


class Graph:
    """The graph of one module. `count` gives numbers of nodes."""

    def __init__(self, stream: Stream, count: Iterator[int]) -> None:
        self._stream, self._count = stream, count
        self._nodes: dict[Any, _Written] = {}
        self._module: Any = None
        self.sink = 0
        """The node of all of it as it was told last."""
        self._sink_sources: list[int] = []
        self._text: Printed | None = None
        self._printed = 0
        """The sink when it was printed last."""
        self._created: list[Any] = []
        self._erased: set[Any] = set()
        self._replaced: dict[Any, str] = {}
        self._names: dict[str, Any] = {}

    # hooks

    def attach(self, module: Any) -> None:
        """Hears of nodes that are created, erased and replaced."""
        self._module = module
        module._register_create_node_hook(self._on_create)
        module._register_erase_node_hook(self._on_erase)
        module._register_replace_node_hook(self._on_replace)

    def detach(self) -> None:
        """Hears no more."""
        module, self._module = self._module, None
        if module is None:
            return
        for name, hook in (
            ("create_node", self._on_create),
            ("erase_node", self._on_erase),
            ("replace_node", self._on_replace),
        ):
            try:
                getattr(module, f"_unregister_{name}_hook")(hook)
            except (AttributeError, ValueError, AssertionError):
                continue  # the pass has taken its module's hooks away

    def _on_create(self, node: Any) -> None:
        self._created.append(node)
        self._names[node.name] = node

    def _on_erase(self, node: Any) -> None:
        self._erased.add(node)
        if self._names.get(node.name) is node:
            del self._names[node.name]

    def _on_replace(self, old: Any, new: str, user: Any) -> None:
        self._replaced.setdefault(old, new)  # once for each user

    # what is told

    def number(self, node: Any) -> int:
        """The number of a node as it was written last; 0 for one that was not, or is none."""
        try:
            known = self._nodes.get(node)
        except TypeError:
            return 0
        return 0 if known is None else known.number

    def written(self, graph: Any) -> int:
        """The whole graph as it is now."""
        return self.rest(graph).sink

    def text(self, module: Any) -> Printed | None:
        """Its text as it was told last, which is as it is now; None where PyTorch cannot print
        it."""
        if self.sink != self._printed:
            self._printed, self._text = self.sink, self._print(module)
        return self._text

    def _print(self, module: Any) -> Printed | None:
        try:
            text = str(module.print_readable(print_output=False))
        except Exception:
            return None
        named = (_ASSIGNED.match(line) for line in text.split("\n"))
        nodes = [self.number(self._names.get(one[1])) if one else 0 for one in named]
        return Printed("python", text, nodes)

    def begin_match(self) -> None:
        """What was heard before belongs to no match."""
        self._created, self._erased, self._replaced = [], set(), {}

    def match(self, node: Any, graph: Any) -> Made:
        """A match at a node is over."""
        old = self.number(node) or self._write(node)
        for created in self._created:
            if created not in self._erased:
                self._write(created)
        rebuilt: list[tuple[int, int]] = []
        new = 0
        for replaced, name in self._replaced.items():
            by = self._named(name, graph)
            if by is None:
                continue
            was, now = self.number(replaced), self.number(by) or self._write(by)
            if replaced is node:
                new = now
            elif was and was != now:
                rebuilt.append((was, now))
        if not new and node not in self._erased:  # it may have changed in place
            new = self._write(node)
        if not new:  # nothing stands in its place: the whole graph is another one
            if rebuilt:
                old, new = rebuilt.pop(0)
            else:
                old, new = self.sink, self.rest(graph).sink
        self.begin_match()
        return Made(old, new, rebuilt)

    def _named(self, name: str, graph: Any) -> Any:
        """The node of this name; None where it has been erased. Nodes are seldom renamed: then all
        of the graph is looked at."""
        node = self._names.get(name)
        if node is None or node.name != name:
            self._names = {one.name: one for one in graph.nodes}
            node = self._names.get(name)
        return node

    def replaced(self, node: Any, by: Any) -> tuple[int, int] | None:
        """What `by` is, which stands where `node` stood; None where neither is known."""
        old = self.number(node)
        return (old, self._write(by)) if old and by is not None else None

    def rest(self, graph: Any) -> Rest:
        """All that is not as it was written."""
        rebuilt: list[tuple[int, int]] = []
        first: tuple[int, int] | None = None
        new_before = False
        nodes = [*graph.nodes]
        self._names = {node.name: node for node in nodes}
        for node in nodes:
            known = self._nodes.get(node)
            number = self._write(node)
            if known is None:
                new_before = True
                continue
            if number == known.number:
                continue
            changed = self._nodes[node]
            if first is None and (new_before or changed.own != known.own):
                first = known.number, number
            rebuilt.append((known.number, number))
        ends = [n for n in nodes if not n.users or n.op == "output"]
        sources = [self.number(n) for n in ends if n.op != "placeholder"]
        sink = self.sink
        if not sink or sources != self._sink_sources:
            sink = next(self._count)
            roles = ["" if n.op == "output" else "order" for n in ends if n.op != "placeholder"]
            self._stream.put("node", sink, "graph", "", sources, {"roles": roles})
            if self.sink:
                rebuilt.append((self.sink, sink))
            self.sink, self._sink_sources = sink, sources
        if first is not None:
            rebuilt.remove(first)
        alive = {*nodes}
        for gone in [node for node in self._nodes if node not in alive]:
            del self._nodes[gone]
        self.begin_match()
        return Rest(sink, first, rebuilt)

    def _write(self, node: Any) -> int:
        """The number of a node as it is now, told if that is new."""
        stack = [node]
        while stack:
            at = stack[-1]
            missing = [s for s in at.all_input_nodes if s not in self._nodes]
            if missing:
                stack += missing
                continue
            stack.pop()
            self._tell(at)
        return self._nodes[node].number

    def _tell(self, node: Any) -> None:
        sources = [self._nodes[s].number for s in node.all_input_nodes]
        own = self._own(node)
        known = self._nodes.get(node)
        if known is not None and known.own == own and known.sources == sources:
            return
        number = next(self._count)
        more: dict[str, Any] = {"tag": json.dumps(str(node.name))}
        if own[2]:
            more["arg"] = own[2]
        roles = _roles(node)
        if any(roles):
            more["roles"] = roles
        shape = _shape(_value(node))
        if shape:
            more["shape"] = shape
        place = _place(node)
        if place:
            more["call"] = place
        self._nodes[node] = _Written(number, own, sources)
        self._stream.put("node", number, own[0], own[1], sources, more)

    def _own(self, node: Any) -> tuple[str, str, str]:
        """Op, dtype and argument of a node."""
        value = _value(node)
        dtype = str(getattr(value, "dtype", "")).replace("torch.", "")
        if not dtype and isinstance(value, (list, tuple)):
            dtype = "tuple"
        if node.op == "placeholder":
            return "placeholder", dtype, encode(_layout(value, node))
        if node.op in ("get_attr", "call_module"):
            return node.op, dtype, encode([{"text": str(node.target)}, *self._arguments(node)])
        if node.op == "output":
            return "output", dtype, encode(self._arguments(node)[0])
        name = target_name(node.target)
        if node.op == "call_method":
            name = f".{name}"
        text = encode(self._arguments(node))
        return name, dtype, "" if text == '["$0"]' else text

    def _arguments(self, node: Any) -> list[Any]:
        places = {source: at for at, source in enumerate(node.all_input_nodes)}
        made = [_argument(one, places) for one in node.args]
        if node.kwargs:
            named = {str(k): _argument(v, places) for k, v in node.kwargs.items()}
            made.append({"kw": named})
        return made


def target_name(target: Any) -> str:
    """What a node calls, as people write it: "aten.mm.default", "relu", "operator.getitem"."""
    if isinstance(target, str):
        return target
    name = str(target)
    if re.fullmatch(r"[A-Za-z_]\w*(\.\w+)+", name):  # an op of torch.ops says its own
        return name
    module = getattr(target, "__module__", "") or ""
    name = (
        getattr(target, "__qualname__", "")
        or getattr(target, "__name__", "")
        or type(target).__name__
    )
    module = {"_operator": "operator", "torch._C._nn": "torch.nn.functional"}.get(module, module)
    return f"{module}.{name}" if module and module != "builtins" else name


def _value(node: Any) -> Any:
    meta = node.meta
    for key in ("val", "example_value", "tensor_meta"):
        if key in meta:
            return meta[key]
    return None


def _roles(node: Any) -> list[str]:
    """What the operator of a node calls each of its sources; "" where it does not say."""
    schema = getattr(node.target, "_schema", None)
    names = [str(one.name) for one in getattr(schema, "arguments", ())]
    said = [*zip(names, node.args, strict=False), *node.kwargs.items()]
    found: dict[Any, str] = {}
    for name, value in said:
        parts = value if isinstance(value, (list, tuple)) else (value,)
        for part in parts:
            if hasattr(part, "all_input_nodes"):
                found.setdefault(part, name)
    return [found.get(source, "") for source in node.all_input_nodes]


def _shape(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if shape is None:
        return ""
    return "x".join(str(size) for size in shape)[:200]


def _layout(value: Any, node: Any) -> list[Any]:
    """Name, sizes and strides of an input."""
    made: list[Any] = [{"text": str(node.target)}]
    try:
        sizes, strides = [*value.shape], [*value.stride()]
    except Exception:
        return made
    if all(type(n) is int for n in (*sizes, *strides)):
        made.append({"shape": sizes})
        made.append({"stride": strides})
    return made


def _argument(value: Any, places: dict[Any, int]) -> Any:
    """An argument as typed JSON; "$0" is the first source."""
    if isinstance(value, _PLAIN):
        return value if not isinstance(value, int) or abs(value) < 1 << 53 else {"int": str(value)}
    if isinstance(value, float):
        text = repr(value)
        return {"float": value if text not in ("inf", "-inf", "nan") else text}
    if isinstance(value, str):
        return {"text": value[:_MAX_ARG]}
    if isinstance(value, (list, tuple)):
        return [_argument(one, places) for one in value]
    if isinstance(value, dict):
        return {"kw": {str(k): _argument(v, places) for k, v in value.items()}}
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return {"slice": [_argument(one, places) for one in parts]}
    try:
        if value in places:
            return f"${places[value]}"
    except TypeError:
        pass
    text = str(value)
    if re.fullmatch(r"torch\.\w+", text):
        return {"torch": text}
    if type(value).__name__ == "device":
        return {"device": text}
    return {"repr": text[:_MAX_ARG]}


def _place(node: Any) -> str:
    """The user's line that asked for a node: the last of its stack."""
    found = _FRAME.findall(str(node.meta.get("stack_trace") or ""))
    return f"{found[-1][0]}:{found[-1][1]}" if found else ""
