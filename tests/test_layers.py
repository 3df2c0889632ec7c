"""The layer order of the code: every import points down, and stands at the top of its module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parents[1]

# From the bottom up. A module belongs to the longest entry that is a prefix of its name, and may
# import from its own row and the rows above it in this list.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("core.errors",),
    ("core.dtype",),
    ("core.helpers", "core.garbage", "core.tensor_cores"),
    ("core.private", "core.misspelled"),
    ("core.uop.ops", "core.uop.kernelinfo", "core.uop.frames"),
    ("core.target", "core.shape"),
    ("core.uop.bits",),
    ("core.uop.node",),
    (
        "core.uop.late",
        "core.uop.meaning",
        "core.uop.meaning_arrays",
        "core.uop.bounds",
        "core.uop.shapes",
        "core.uop.shards",
        "core.uop.lengths",
        "core.uop.ranges",
        "core.uop.derive",
        "core.uop.users",
        "core.uop.uses",
    ),
    ("core.uop.arithmetic", "core.uop.movement", "core.uop.variables"),
    ("core.uop.uop",),
    (
        "core.uop.asking",
        "core.uop.caller",
        "core.uop.kernels",
        "core.uop.match_compiled",
        "core.uop.match_interpreted",
        "core.uop.matcher",
        "core.uop.observe",
        "core.uop.origin",
        "core.uop.pointer",
        "core.uop.policy",
        "core.uop.rewrite",
        "core.uop.rewrite_errors",
        "core.uop.rule",
        "core.uop.show",
        "core.uop.substitute",
        "core.uop.upat",
        "core.uop.visits",
    ),
    ("core.uop.symbolic",),
    ("core.uop",),
    ("core.observers",),
    ("core.tile",),
    ("core.tile.kernels",),
    ("core.prove",),
    ("core.passes.address", "core.passes.contract", "core.passes.identities", "core.passes.lanes"),
    ("core.passes.view_index",),
    ("core.passes.schedule.multi",),
    ("core.passes.decompose", "core.passes.optimize", "core.passes.schedule"),
    ("core.passes.ptx",),
    ("core.passes",),
    ("core.render",),
    ("core.toolchain",),
    ("core.kernelname",),
    ("core.compile",),
    ("core.runtime",),
    ("core.runtime.emulator.alu",),
    ("core.runtime.gpu", "core.runtime.emulator"),
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
    ),
    ("core.runtime.device", "core.runtime.discover"),
    ("core.check",),
    ("core.beam",),
    ("core.runtime.run", "core.runtime.__main__"),
    ("core.runtime.batch",),
    ("core.realize",),
    ("core.replay",),
    ("core.kernelgradient",),
    ("core.gradient",),
    ("core.tensor.calls",),
    ("core.tensor.state",),
    ("core.tensor.running",),
    ("core.tensor.views",),
    ("core.tensor.elements",),
    ("core.tensor.axes",),
    ("core.tensor.neural",),
    ("core.tensor",),
    ("core.jit",),
    ("core.nn.files", "core.nn.layers"),
    ("core.nn",),
    ("core",),
    ("viz.budget", "viz.ratio", "viz.settings", "viz.terminal"),
    ("viz.format",),
    ("viz.files",),
    ("viz.environment",),
    ("viz.workers",),
    ("viz.vouching",),
    ("viz.write",),
    ("viz.recording",),
    ("viz.trace",),
    ("viz.read",),
    ("viz.replay",),
    (
        "viz.views",
        "viz.views.overview",
        "viz.views.rules",
        "viz.views.search",
        "viz.views.since",
        "viz.views.tiles",
    ),
    ("viz.check.known",),
    ("viz.compare.matching",),
    ("viz.compare.lines",),
    ("viz.compare",),
    ("viz.share", "viz.share.held"),
    ("viz.work", "viz.work.targets"),
    ("viz.why",),
    ("viz.whatif",),
    ("viz.workbench",),
    ("viz.check",),
    ("viz.bisect",),
    ("viz.server", "viz.server.connections", "viz.server.routes", "viz.server.runs"),
    ("viz.viewer",),
    ("viz.live",),
    ("viz.command",),
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


def imports_of(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """(module, line) of every import, of those that only a type checker needs, too."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            for alias in node.names:
                inner = ROOT / (base + "." + alias.name).replace(".", "/")
                is_module = inner.with_suffix(".py").exists() or (inner / "__init__.py").exists()
                yield (f"{base}.{alias.name}" if is_module else base), node.lineno
        else:
            yield from imports_of(node)


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_point_down(path: Path) -> None:
    name = module_name(path)
    tree = ast.parse(path.read_text())
    for imported, line in imports_of(tree):
        top = imported.split(".")[0]
        if top not in ("core", "viz"):
            continue
        assert rank_of(imported) <= rank_of(name), f"{name}:{line} imports {imported} from above"


def test_no_file_imports_itself_around_others() -> None:
    names = {module_name(path) for path in MODULES}
    imports: nx.DiGraph[str] = nx.DiGraph()
    for path in MODULES:
        own = module_name(path)
        found = {name for name, _ in imports_of(ast.parse(path.read_text())) if name in names}
        imports.add_edges_from((own, name) for name in found - {own})
    assert imports.number_of_edges() > 1000
    circles = [sorted(c) for c in nx.strongly_connected_components(imports) if len(c) > 1]
    assert not circles


def test_every_folder_has_a_row() -> None:
    folders = {".".join(path.parent.relative_to(ROOT).parts) for path in MODULES}
    assert not folders - {name for row in LAYERS for name in row}


POSIX = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_modules_of_posix_alone_are_imported_conditionally(path: Path) -> None:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found = {node.module} if isinstance(node, ast.ImportFrom) else set()
            found |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
            assert not found & POSIX, f"{module_name(path)}:{node.lineno} needs a POSIX system"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_stand_at_the_top(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            hidden = [f"line {line}: {name}" for name, line in imports_of(node)]
            hidden = [h for h in hidden if ": core" in h or ": viz" in h]
            assert not hidden, (
                f"{module_name(path)}.{node.name} imports inside a function: {hidden}"
            )
