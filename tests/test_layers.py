"""The layer order of the code: every import points down, and stands at the top of its module."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

from viz.dialect.adapters import BUILT_IN

ROOT = Path(__file__).parents[1]

# From the bottom up. A module belongs to the longest entry that is a prefix of its name, and may
# import from its own row and the rows above it in this list.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("core.errors", "core.origintext"),
    ("core.dtype",),
    ("core.helpers", "core.garbage", "core.tensor_cores"),
    ("core.private", "core.misspelled"),
    ("core.uop.ops", "core.uop.kernelinfo", "core.uop.frames"),
    ("core.target", "core.shape"),
    ("core.hardware",),
    ("core.uop.bits", "core.uop.interned"),
    ("core.uop.node",),
    ("core.uop.late", "core.uop.facts"),
    ("core.uop.arithmetic", "core.uop.movement", "core.uop.variables"),
    ("core.uop.uop",),
    (
        *("core.uop.engine", "core.uop.patterns"),
        *("core.uop.kernels", "core.uop.pointer", "core.uop.show"),
    ),
    ("core.uop.symbolic",),
    ("core.uop", "core.uop.call", "core.uop.data", "core.uop.spec"),
    ("core.observers",),
    ("core.tile", "core.tile.memory"),
    ("core.tile.kernels",),
    ("core.prove.verdict",),
    ("core.prove.terms",),
    ("core.prove.samples",),
    ("core.prove.questions",),
    ("core.prove",),
    ("core.passes.address", "core.passes.contract", "core.passes.identities", "core.passes.lanes"),
    ("core.passes.images", "core.passes.view_index"),
    ("core.passes.cost", "core.passes.schedule.multi"),
    (
        *("core.passes.decompose", "core.passes.optimize", "core.passes.optimize.tensorcores"),
        *("core.passes.schedule", "core.passes.schedule.simplify"),
        *("core.passes.schedule.grouping", "core.passes.schedule.kernels"),
    ),
    ("core.passes.ptx",),
    ("core.passes.wgsl",),
    ("core.passes", "core.passes.loops", "core.passes.program", "core.passes.vectors"),
    (
        *("core.render", "core.render.c_lines", "core.render.llvm_lines"),
        *("core.render.ptx_lines", "core.render.wgsl_lines"),
    ),
    ("core.toolchain",),
    ("core.kernelname",),
    ("core.compile",),
    ("core.runtime",),
    ("core.runtime.emulator.alu",),
    ("core.runtime.gpu", "core.runtime.emulator", "core.runtime.emulator.memory"),
    ("core.runtime.emulator.llvm.text",),
    ("core.runtime.emulator.llvm.compute",),
    (
        "core.runtime.emulator.ptx",
        "core.runtime.emulator.llvm",
        "core.runtime.reference.evaluate",
    ),
    ("core.runtime.emulator.device",),
    (
        "core.runtime.cpu",
        "core.runtime.disk",
        "core.runtime.reference",
        "core.runtime.cuda",
        "core.runtime.hip",
        "core.runtime.opencl",
        "core.runtime.webgpu",
    ),
    ("core.runtime.device", "core.runtime.discover", "core.runtime.__main__"),
    ("core.trial",),
    ("core.isolation",),
    ("core.beam",),
    ("core.launch",),
    ("core.realize",),
    ("core.capture", "core.capture.captured"),
    ("core.capture.stepmemory",),
    ("core.capture.capturereport",),
    ("core.gradients", "core.gradients.gradientsteps", "core.gradients.kernelgradient"),
    ("core.gradients.gradient",),
    ("core.tensor.calls",),
    ("core.tensor.state",),
    ("core.tensor.running",),
    ("core.tensor.views",),
    ("core.tensor.elements",),
    ("core.tensor.axes", "core.tensor.axes.indexing"),
    ("core.tensor.neural",),
    ("core.tensor",),
    ("core.capture.jit",),
    ("core.nn.files", "core.nn.layers"),
    ("core.nn",),
    ("core",),
    ("viz.budget", "viz.ratio", "viz.settings", "viz.terminal"),
    ("viz.format",),
    ("viz.files",),
    ("viz.environment",),
    ("viz.workers",),
    ("viz.vouching",),
    ("viz.write", "viz.write.texts", "viz.write.events"),
    ("viz.recording",),
    ("viz.trace",),
    ("viz.read",),
    ("viz.dialect",),
    ("viz.replay",),
    ("viz.tap", "viz.tap.site", "viz.tap.site._uopviz_tap"),
    ("viz.streams",),
    ("viz.importers", "viz.importers.torch", "viz.importers.mlir", "viz.importers.xla"),
    (
        *("viz.views", "viz.views.runs", "viz.views.kernels", "viz.views.nodes"),
        "viz.views.overview",
        "viz.views.rules",
        "viz.views.search",
        "viz.views.since",
    ),
    ("viz.coredialect", "viz.coredialect.tiles"),
    ("viz.compilers",),
    ("viz.known",),
    ("viz.compare.matching",),
    ("viz.compare.lines",),
    ("viz.compare",),
    ("viz.share", "viz.share.held", "viz.share.packed"),
    ("viz.fleet",),
    ("viz.jobs",),
    ("viz.server", "viz.server.connections", "viz.server.runs"),
    ("viz.viewer",),
    (
        *("viz.command", "viz.command.line", "viz.command.printed", "viz.command.diffs"),
        "viz.command.fleets",
    ),
    ("viz.work", "viz.work.targets"),
    ("viz.why", "viz.why.rules"),
    ("viz.whatif.variants", "viz.whatif.results"),
    ("viz.whatif.narrowing", "viz.whatif.scripts"),
    ("viz.whatif",),
    ("viz.workbench",),
    ("viz.check.gradients", "viz.check.whole", "viz.foreign", "viz.foreign.hlo"),
    ("viz.check",),
    ("viz.bisect",),
    ("viz.coreserver",),
    ("viz.corecommand",),
    ("viz.assistant",),
    ("viz.api",),
    ("viz.live",),
    ("viz.notebook",),
    ("viz.public.uopviz",),
    ("viz",),
)
RANK = {name: rank for rank, row in enumerate(LAYERS) for name in row}
# A package's __init__ runs before its modules: importing `core.uop.uop` is not importing these.
MODULES = sorted(
    path
    for path in [*ROOT.glob("core/**/*.py"), *ROOT.glob("viz/**/*.py")]
    if "web" not in path.relative_to(ROOT).parts
)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def rank_of(name: str) -> int:
    while name not in RANK:
        name = name.rpartition(".")[0]
        assert name, "every module belongs to a layer"
    return RANK[name]


METHODS = "if TYPE_CHECKING:\n    from core.tensor import Tensor"
"""Methods of Tensor are functions in rooms below the class, and are typed with it."""


def is_methods(node: ast.AST) -> bool:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return ast.unparse(node) == METHODS
        case _:
            return False


STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)
"""What statements stand in."""
NAMES = frozenset(map(module_name, MODULES))


@functools.cache
def imports_of(tree: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[str, int]]:
    """(module, line) of every import, of those that only a type checker needs, too."""
    return [*imports_in(tree)]


def imports_in(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif is_methods(node):
            continue
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield (inner if inner in NAMES else base), node.lineno
        elif isinstance(node, STATEMENTS):
            yield from imports_in(node)


FROM_ABOVE = {"core.uop.late": "methods of UOp whose rules and printer are made of UOps"}
"""Modules that import from above when they are first called, and why."""


def is_import_module(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name.endswith("import_module")
        case _:
            return False


def imports_by_name(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """(module, line) of every import that is made by its name: `import_module("core.nn")`, and the
    tables `_HOMES` and `HOMES` of names that are imported when they are asked for."""
    for node in ast.walk(tree):
        named: list[ast.expr] = []
        if isinstance(node, ast.Call) and is_import_module(node):
            named = node.args[:1]
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.target) in ("_HOMES", "HOMES"):
            named = [name for name in ast.walk(node) if isinstance(name, ast.Constant)]
        for name in named:
            if isinstance(name, ast.Constant) and NAME.fullmatch(str(name.value)):
                yield str(name.value), name.lineno


@functools.cache
def trees() -> dict[str, ast.Module]:
    """What each module parses to."""
    return {module_name(path): ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}


def test_imports_point_down() -> None:
    wrong = [
        f"{name}:{line} imports {imported} from above"
        for name, tree in trees().items()
        for imported, line in (*imports_of(tree), *imports_by_name(tree))
        if imported.split(".")[0] in ("core", "viz") and rank_of(imported) > rank_of(name)
    ]
    late = {line.partition(":")[0] for line in wrong} & FROM_ABOVE.keys()
    assert late == FROM_ABOVE.keys()
    assert [line for line in wrong if line.partition(":")[0] not in FROM_ABOVE] == []


def test_no_file_imports_itself_around_others() -> None:
    imports: nx.DiGraph[str] = nx.DiGraph()
    for own, tree in trees().items():
        by_name = () if own in FROM_ABOVE else imports_by_name(tree)
        found = {name for name, _ in (*imports_of(tree), *by_name) if name in trees()}
        imports.add_edges_from((own, name) for name in found - {own})
    assert imports.number_of_edges() > 1000
    circles = [sorted(c) for c in nx.strongly_connected_components(imports) if len(c) > 1]
    assert not circles


def test_no_room_imports_itself_around_others() -> None:
    """Not even as a whole, with the rooms in it: `viz/check` with `viz/check/whole`, ..."""
    rooms: nx.DiGraph[str] = nx.DiGraph()
    for own, tree in trees().items():
        found = {own, *(name for name, _ in imports_of(tree) if name in trees())}
        outer = {name: ".".join(name.split(".")[:2]) for name in found if name.count(".") > 1}
        rooms.add_edges_from((outer.get(own, ""), room) for room in {*outer.values()})
    rooms.remove_node("")
    rooms.remove_edges_from([*nx.selfloop_edges(rooms)])
    assert rooms.number_of_edges() > 100
    assert [sorted(c) for c in nx.strongly_connected_components(rooms) if len(c) > 1] == []


def test_every_folder_has_a_row() -> None:
    folders = {".".join(path.parent.relative_to(ROOT).parts) for path in MODULES}
    assert not folders - {name for row in LAYERS for name in row}


POSIX = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}


def test_modules_of_posix_alone_are_imported_conditionally() -> None:
    wrong = [
        f"{name}:{node.lineno} needs a POSIX system"
        for name, tree in trees().items()
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        and POSIX
        & ({node.module} if isinstance(node, ast.ImportFrom) else {a.name for a in node.names})
    ]
    assert wrong == []


def test_imports_stand_at_the_top() -> None:
    wrong = [
        f"{name}.{function.name} imports {imported} in line {line}"
        for name, tree in trees().items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for imported, line in imports_of(function)
        if imported.split(".")[0] in ("core", "viz")
    ]
    assert wrong == []


# What only reads and shows traces, of whatever compiler.
SPINE = (
    *("viz.budget", "viz.ratio", "viz.settings", "viz.terminal", "viz.format", "viz.files"),
    *("viz.environment", "viz.workers", "viz.vouching", "viz.write", "viz.read", "viz.dialect"),
    *("viz.replay", "viz.views", "viz.known", "viz.compare", "viz.share", "viz.jobs"),
    *("viz.server", "viz.viewer", "viz.command", "viz.tap", "viz.streams", "viz.importers"),
    "viz.fleet",
)
# Of `core`, what both packages stand on: errors, settings, processes, and forms of data.
SHARED = (
    *("core.errors", "core.helpers", "core.garbage", "core.private", "core.misspelled"),
    *("core.origintext", "core.isolation.child", "core.isolation.client", "core.isolation.limits"),
    *("core.prove.verdict", "core.prove.solver"),
)
ADAPTERS = {
    where.partition(":")[0] for adapter in BUILT_IN.values() for where in vars(adapter).values()
}
NAME = re.compile(r"(?:core|viz)(?:\.\w+)+")
# What is imported by name, and by whom: a table of modules, an adapter, a room that loads late.
LATE = {
    "core": "the names of the package",
    "core.render.renderers": "a renderer for each kind of text",
    "core.runtime.device": "a module for each kind of device",
    "core.tensor.neural.attention": "kernels of tiles, which are built of Tensors",
    "core.uop": "the names of the package",
    "core.uop.late": "meanings, which are built of nodes",
    "viz": "the names of the package",
    "viz.dialect.adapters": "the parts of adapters",
    "viz.public.uopviz": "the names of the package",
    "viz.why.rules.installed": "the modules of the rules of core",
}


@functools.cache
def late_imports(tree: ast.Module) -> set[str]:
    """The modules of ours that a module names which imports some by name."""
    if not any(map(is_import_module, ast.walk(tree))):
        return set()
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    names = (found[0] for text in texts if isinstance(text, str) and (found := NAME.match(text)))
    return {name for name in names if name in trees()}


def within(name: str, rooms: tuple[str, ...]) -> bool:
    return any(name == room or name.startswith(f"{room}.") for room in rooms)


def test_modules_are_imported_by_name_in_few_places() -> None:
    assert {name for name, tree in trees().items() if late_imports(tree)} == {*LATE}


def test_the_spine_knows_no_compiler() -> None:
    """Imported by name as well; but for the table of adapters."""
    wrong = [
        f"{name} imports {imported}"
        for name, tree in trees().items()
        if within(name, SPINE)
        for imported in {found for found, _ in imports_of(tree)} | late_imports(tree)
        if imported.split(".")[0] in ("core", "viz")
        and not within(imported, (*SPINE, *SHARED))
        and imported != "viz"
        and not (name == "viz.dialect.adapters" and imported in ADAPTERS)
    ]
    assert wrong == []
