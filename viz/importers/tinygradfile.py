"""`rewrites.pkl`, the file of tinygrad's own recorder (`VIZ=-1`), made into a stream's events.

Ops are numbers in it, which differ by version, and it does not say which version wrote it: that is
told by the forms of its parts, and ops whose nodes do not fit are refused. It has no results,
bindings, declines, patterns or texts of rules. Nothing that it names is looked up or run.
"""

from __future__ import annotations

import json
import math
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Final, cast

from core.errors import TraceError
from viz.importers.inert import Record, items, read

_MAX_ARG: Final = 2000
_DEEPEST: Final = 6
_MOST: Final = 5_000_000
"""Nodes and matches."""
_OPS: Final[Mapping[str, str]] = {
    "0.11": "NOOP SINK UNIQUE DEVICE KERNEL PRECAST REWRITE_ERROR CHILD CHILDREN COPY BUFFER "
    "BUFFER_VIEW MSELECT MSTACK BUFFERIZE CONTIGUOUS CONTIGUOUS_BACKWARD DETACH FUSE BLOCK "
    "BLOCKSTART BLOCKEND BLOCKFINAL RESHAPE PERMUTE EXPAND PAD SHRINK FLIP MULTI VIEW VALID "
    "DEFINE_GLOBAL DEFINE_LOCAL DEFINE_REG DEFINE_VAR BIND SPECIAL REDUCE_AXIS REDUCE ALLREDUCE "
    "UNROLL CONTRACT GEP VECTORIZE CAT PTRCAT CAST BITCAST EXP2 LOG2 SIN SQRT RECIP NEG TRUNC LOAD "
    "STORE ASSIGN WMMA INDEX ADD MUL SHL SHR IDIV MAX MOD CMPLT CMPNE CMPEQ XOR OR AND THREEFRY "
    "SUB FDIV POW WHERE MULACC BARRIER RANGE IF ENDRANGE ENDIF VCONST CONST CUSTOM CUSTOMI",
    "0.12": "DEFINE_GLOBAL DEFINE_VAR BIND SPECIAL DEFINE_LOCAL DEFINE_REG NOOP REWRITE_ERROR "
    "PROGRAM LINEAR SOURCE BINARY SINK AFTER GROUP GEP VECTORIZE INDEX LOAD STORE WMMA CAST "
    "BITCAST EXP2 LOG2 SIN SQRT RECIPROCAL NEG TRUNC ADD MUL SHL SHR IDIV MAX MOD CMPLT CMPNE "
    "CMPEQ XOR OR AND THREEFRY SUB FDIV POW WHERE MULACC BARRIER RANGE IF END ENDIF VCONST CONST "
    "CUSTOM CUSTOMI UNIQUE DEVICE KERNEL ASSIGN CUSTOM_KERNEL LUNIQUE CONTIGUOUS "
    "CONTIGUOUS_BACKWARD DETACH BUFFERIZE COPY BUFFER BUFFER_VIEW MSELECT MSTACK ENCDEC RESHAPE "
    "PERMUTE EXPAND PAD SHRINK FLIP MULTI REDUCE_AXIS REDUCE ALLREDUCE UNROLL CONTRACT CAT PTRCAT",
    "0.13": "DEFINE_VAR BIND SPECIAL DEFINE_LOCAL DEFINE_REG NOOP REWRITE_ERROR PARAM FUNCTION "
    "CALL PROGRAM LINEAR SOURCE BINARY SINK AFTER GROUP GEP STACK TUPLE GETTUPLE GETADDR INDEX "
    "LOAD STORE WMMA SHAPED_WMMA CAST BITCAST EXP2 LOG2 SIN SQRT RECIPROCAL NEG TRUNC ADD MUL SHL "
    "SHR CDIV MAX CMOD CMPLT CMPNE CMPEQ XOR OR AND THREEFRY SUB FDIV POW FLOORDIV FLOORMOD WHERE "
    "MULACC BARRIER RANGE IF END ENDIF WAIT CONST CUSTOM CUSTOMI INS UNIQUE DEVICE LUNIQUE "
    "CONTIGUOUS CONTIGUOUS_BACKWARD DETACH STAGE COPY BUFFER BUFFER_VIEW MSELECT MSTACK "
    "CUSTOM_FUNCTION RESHAPE PERMUTE EXPAND PAD SHRINK FLIP MULTI REDUCE ALLREDUCE UNROLL CONTRACT "
    "VCAT PTRCAT",
    "0.14": "SPECIAL BUFFER NOOP REWRITE_ERROR PARAM FUNCTION CALL PROGRAM LINEAR SOURCE BINARY "
    "SINK AFTER GROUP STACK TUPLE GETTUPLE GETADDR INDEX SHRINK LOAD STORE WMMA CAST BITCAST EXP2 "
    "LOG2 SIN SQRT RECIPROCAL NEG TRUNC ADD MUL SHL SHR CDIV MAX CMOD CMPLT CMPNE CMPEQ XOR OR AND "
    "THREEFRY SUB FDIV POW FLOORDIV FLOORMOD WHERE MULACC BARRIER RANGE IF END ENDIF CONST CUSTOM "
    "CUSTOMI INS CONTIGUOUS CONTIGUOUS_BACKWARD DETACH STAGE COPY MSELECT MSTACK CUSTOM_FUNCTION "
    "RESHAPE PERMUTE EXPAND PAD FLIP UNSHARD REDUCE ALLREDUCE PYLITERAL",
}
"""The names of ops by version; the first is 1."""
_SOURCES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("ADD", "MUL", "CMPLT", "CMPNE", "MAX", "AND", "OR", "XOR"), 2),
    **dict.fromkeys(("EXP2", "LOG2", "SQRT", "CAST", "NEG"), 1),
    "WHERE": 3,
}
"""How many sources some ops have: what tells whether a version's names fit."""
_DTYPES: Final = {
    "signed char": "char", "unsigned char": "uchar", "unsigned short": "ushort",
    "unsigned int": "uint", "unsigned long": "ulong", "float8_e4m3": "fp8e4m3",
    "float8_e5m2": "fp8e5m2", "float8_e4m3fnuz": "fp8e4m3fnuz", "float8_e5m2fnuz": "fp8e5m2fnuz",
    "__bf16": "bfloat16",
}  # fmt: skip
_SPACES: Final = {2: "AddrSpace.LOCAL", 3: "AddrSpace.REG"}
Events = Iterator[list[Any]]


def is_tinygrad_file(head: bytes) -> bool:
    """Whether a file that begins so is one."""
    return head.startswith(b"\x80") and b"tinygrad." in head and b"TracingKey" in head


def events_of(file: IO[bytes], where: str) -> Events:
    """The events of a file, as docs/stream.md has them. Raises TraceError."""
    return _File(read(file, where), where).events()


@dataclass
class _Rewrite:
    """A call of `graph_rewrite`."""

    name: str
    sink: Any
    matches: Sequence[Any]
    depth: int
    bottom_up: bool
    walks: bool
    place: str


@dataclass
class _Told:
    nodes: dict[Any, int] = field(default_factory=dict[Any, int])
    """Numbers of nodes that were told, by those of the file."""
    rules: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])


class _File:
    def __init__(self, root: object, where: str) -> None:
        self._where = where
        self._told = _Told()
        parts = [*items(root)]
        if isinstance(root, Record):
            parts = [root.fields.get(name) for name in ("keys", "rewrites", "uop_fields")]
        if len(parts) != 3 or not isinstance(parts[2], dict):
            raise self._odd("it has no groups, rewrites and nodes")
        self._keys, self._groups = items(parts[0]), items(parts[1])
        self._nodes = cast("dict[Any, Any]", parts[2])
        if len(self._nodes) > _MOST:
            raise self._odd(f"it has more than {_MOST:,} nodes")
        self.version = self._version(isinstance(root, Record))
        names = _OPS[self.version].split()
        self._names = dict(enumerate(names, 1))
        self._check_names()

    def _odd(self, why: str) -> TraceError:
        hint = "uopviz reads those of tinygrad 0.11 to 0.14; record newer ones: uopviz record"
        return TraceError(f"this rewrites.pkl cannot be read: {why}", self._where, hint)

    def _version(self, has_class: bool) -> str:
        """The version that wrote it, by what is in it."""
        if not has_class:
            return "0.11"
        for fields in self._nodes.values():
            given = items(fields)
            dtype = given[1] if len(given) > 4 else None
            if isinstance(dtype, Record) and dtype.named == "DType":
                if len(dtype.given) == 4:
                    return "0.14"
                name = str(dtype.given[2]) if len(dtype.given) > 2 else ""
                if name.startswith(("weakint", "index")):
                    return "0.13" if name.startswith("weakint") else "0.12"
        raise self._odd("its version cannot be told")

    def _check_names(self) -> None:
        """Refuses a file whose nodes have other numbers of sources than their ops have."""
        fits: Counter[bool] = Counter()
        for fields in self._nodes.values():
            given = items(fields)
            if len(given) < 5:
                raise self._odd("a node of it has too few fields")
            name = self._op(given[0])
            if name in _SOURCES:
                fits[len(items(given[2])) == _SOURCES[name]] += 1
        if fits[False] > fits[True] // 100 or not self._nodes:
            raise self._odd(f"its ops are not those of tinygrad {self.version}")

    def _op(self, value: object) -> str:
        if isinstance(value, Record) and value.named == "Ops" and value.given:
            number = value.given[0]
            if isinstance(number, int):
                return self._names.get(number) or f"OP_{self._text(number, 20)}"
        if isinstance(value, Record) and value.named == "getattr" and len(value.given) == 2:
            name = value.given[1]
            if isinstance(name, str):
                return name[:40]
        return "?"

    def events(self) -> Events:
        """The events of the file; rewrites inside of another one come after it."""
        yield ["stream", 1, {}]
        yield ["compiler", "tinygrad", f"{self.version}.0", 1]
        rewrite = 0
        for context, group in enumerate(self._groups, 1):
            key = self._keys[context - 1] if context <= len(self._keys) else None
            yield from self._begin(context, key)
            around: list[int] = []
            waiting: list[tuple[int, _Rewrite]] = []
            for one in map(self._rewrite, items(group)):
                rewrite += 1
                while len(waiting) > max(0, one.depth):
                    yield from self._matches(*waiting.pop())
                    around.pop()
                yield from self._tell(one.sink)
                how = {
                    "parent": around[-1] if around else 0,
                    "caller": one.place,
                    "bottomUp": one.bottom_up,
                    "walk": one.walks,
                }
                sink = self._told.nodes[one.sink]
                yield ["rewrite", rewrite, context, one.name, sink, how]
                around.append(rewrite)
                waiting.append((rewrite, one))
            while waiting:
                yield from self._matches(*waiting.pop())
            yield ["end-context", context]
        yield ["end", 0]

    def _begin(self, context: int, key: object) -> Events:
        name = self._text(_of(key, "display_name") or "a group", 200)
        made = _of(key, "ret")
        text, kernel = self._program(made)
        kind = "kernel" if text or kernel else "schedule" if "chedule" in name else "group"
        yield ["context", context, 0, name, kind]
        if kind == "kernel":
            yield ["kernel", context, kernel or name, {}]
        if text:
            yield ["text", context, "source", "", text]

    def _program(self, made: object) -> tuple[str, str]:
        """The text and the name of the program that a group has made; ("", "") for none."""
        if not isinstance(made, Record):
            return "", ""
        if made.named == "ProgramSpec":
            text, name = made.fields.get("src"), made.fields.get("name")
            return (text if isinstance(text, str) else ""), _plain(name)
        given = made.given
        if made.named != "UOp" or not given or self._op(given[0]) != "PROGRAM":
            return "", ""
        text = name = ""
        for part in items(given[2]) if len(given) > 2 else ():
            inner = part.given if isinstance(part, Record) else ()
            op = self._op(inner[0]) if inner else ""
            argument = inner[3] if len(inner) > 3 else None
            if op == "SOURCE" and isinstance(argument, str):
                text = argument
            elif op == "SINK":
                name = _plain(_of(argument, "name")) or name
        return text, _plain(_of(given[3] if len(given) > 3 else None, "name")) or name

    def _rewrite(self, record: object) -> _Rewrite:
        get = record.fields.get if isinstance(record, Record) else dict[str, Any]().get
        place = [*items(get("loc"))]
        return _Rewrite(
            self._text(get("name") or "graph_rewrite", 200),
            get("sink"),
            items(get("matches")),
            int(depth) if isinstance(depth := get("depth"), int) else 0,
            get("bottom_up") is True,
            get("walk") is True,
            f"{self._text(place[0], 400)}:{self._text(place[1], 20)}" if len(place) == 2 else "",
        )

    def _matches(self, number: int, rewrite: _Rewrite) -> Events:
        """The matches of a rewrite, and its end, of which the file does not say the result."""
        for match in rewrite.matches:
            given = items(match)
            place = items(given[2]) if len(given) > 2 else ()
            if len(place) != 2 or not isinstance(place[0], str) or not isinstance(place[1], int):
                raise self._odd("a match of it names no rule")
            yield from self._tell(given[0])
            yield from self._tell(given[1])
            before, after = self._told.nodes[given[0]], self._told.nodes[given[1]]
            rule = self._told.rules.get((place[0], place[1]), 0)
            if not rule:
                rule = self._told.rules[place[0], place[1]] = len(self._told.rules) + 1
                name = f"{place[0].rpartition('/')[2]}:{place[1]}"
                yield ["rule", rule, name, {"file": place[0], "line": max(0, place[1])}]
            if self._op(self._nodes[given[1]][0]) == "REWRITE_ERROR":
                message = self._text(items(self._nodes[given[1]])[3])
                error = {"message": message, "rule": rule, "node": before}
                yield ["result", number, 0, None, error]
                return
            seconds = given[3] if len(given) > 3 else 0.0
            ns = round(seconds * 1e9) if isinstance(seconds, float) and 0 <= seconds < 1e5 else 0
            yield ["match", number, rule, before, after, {}, ns]
        yield ["result", number, None]

    def _tell(self, node: Any) -> Events:
        """A node with all below it that were not told."""
        told, nodes = self._told.nodes, self._nodes
        if not isinstance(node, int):
            raise self._odd("a node of it is no number")
        stack = [node]
        opened: set[int] = set()
        while stack:
            at = stack[-1]
            if at in told:
                stack.pop()
                continue
            fields = items(nodes.get(at))
            if not fields:
                raise self._odd(f"node {at} is missing")
            sources = items(fields[2])
            if not all(isinstance(s, int) for s in sources):
                raise self._odd("a source of it is no number")
            missing = [s for s in sources if s not in told]
            if missing and at in opened:
                raise self._odd(f"node {at} is below itself")
            opened.add(at)
            if missing:
                stack += missing
                continue
            stack.pop()
            told[at] = len(told) + 1
            more = {"arg": self._argument(fields[3])} if fields[3] is not None else {}
            if fields[4] is not None:
                more["tag"] = self._argument(fields[4])
            numbers = [told[s] for s in sources]
            yield ["node", told[at], self._op(fields[0]), self._dtype(fields[1]), numbers, more]

    def _dtype(self, value: object) -> str:
        given = [*value.given] if isinstance(value, Record) else []
        if not isinstance(value, Record) or len(given) < 3:
            return self._text(value, 60)
        scalar = given[5] if len(given) > 5 and isinstance(given[5], Record) else None
        pointer = value.named == "PtrDType" and len(given) >= 10
        if pointer and isinstance(given[6], Record) and given[6].named != "PtrDType":
            space = given[7].given[:1] if isinstance(given[7], Record) else ()
            place = next((name for number, name in _SPACES.items() if space == (number,)), "")
            lanes = f".vec({self._text(given[8], 20)})" if given[8] != 1 else ""
            more = f", {place}" if place else ""
            return f"{self._dtype(given[6])}.ptr({self._text(given[9], 20)}{more}){lanes}"
        named = scalar.given[2] if scalar is not None and len(scalar.given) > 2 else given[2]
        count = given[4] if len(given) > 4 else 1
        said = self._text(named, 40)
        lanes = f".vec({self._text(count, 20)})" if count != 1 else ""
        return f"dtypes.{_DTYPES.get(said, said)}{lanes}"

    def _argument(self, value: object) -> str:
        """As the tap tells it."""
        if isinstance(value, bool | int) and abs(value) < 1 << 53:
            return json.dumps(value)
        if isinstance(value, Record) and value.named == "ConstFloat":
            value = _float(value)
        if isinstance(value, float):
            return json.dumps({"float": value if math.isfinite(value) else str(value)})
        text = self._text(value, _MAX_ARG + 1)
        return json.dumps(text if len(text) <= _MAX_ARG else f"{text[:_MAX_ARG]}...")

    def _text(self, value: object, most: int = _MAX_ARG) -> str:
        """A string as it is, any other value as Python writes it; no more than `most` characters
        are made, since one list may be in another many times."""
        if isinstance(value, str):
            return value[:most]
        pieces: list[str] = []
        size = 0
        for piece in self._pieces(value, 0):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                break
        return "".join(pieces)[:most]

    def _pieces(self, value: object, depth: int) -> Iterator[str]:
        """The text of a value, as far as it is known; none of the pieces is empty."""
        if depth > _DEEPEST:
            yield "..."
            return
        match value:
            case list() | tuple():
                given = cast("list[object] | tuple[object, ...]", value)
                yield "[" if isinstance(value, list) else "("
                yield from self._listed((("", one) for one in given[:200]), depth)
                yield "]" if isinstance(value, list) else ",)" if len(given) == 1 else ")"
            case bytes():
                yield f"{len(value)} bytes"
            case Record(named="Ops"):
                yield f"Ops.{self._op(value)}"
            case Record(named="DType" | "PtrDType" | "ImageDType"):
                yield self._dtype(value)
            case Record(named="ConstFloat"):
                yield f"ConstFloat({_float(value)!r})"
            case Record(named="InvalidType"):
                yield "Invalid"
            case Record():
                named = ((f"{k[:60]}=", v) for k, v in [*value.fields.items()][:50])
                yield f"{value.named[:60]}("
                yield from self._listed((*(("", one) for one in value.given[:50]), *named), depth)
                yield ")"
            case int() if abs(value) >= 1 << 64:
                yield hex(value)[:_MAX_ARG]
            case str():
                yield repr(value[:_MAX_ARG])
            case int() | float() | None:
                yield repr(value)
            case _:
                yield type(value).__name__

    def _listed(self, parts: Iterable[tuple[str, object]], depth: int) -> Iterator[str]:
        """Values with their names, between commas."""
        for at, (name, value) in enumerate(parts):
            if at or name:
                yield f"{', ' if at else ''}{name}"
            yield from self._pieces(value, depth + 1)


def _float(record: Record) -> float:
    """The number that is stored as its bits."""
    bits = record.fields.get("bits")
    whole = (bits if isinstance(bits, int) else 0) & ((1 << 64) - 1)
    return struct.unpack("<d", whole.to_bytes(8, "little"))[0]


def _of(record: object, name: str) -> object:
    return record.fields.get(name) if isinstance(record, Record) else None


def _plain(name: object) -> str:
    return name[:200] if isinstance(name, str) else ""
