"""Takes the pictures of README and docs: `python -m tests.screenshots` (or `make screenshots`).

Records examples/digits.py and takes the overview; opens a telling step of its busiest kernel, runs
the kernel, and takes that; and a tile of tests/browser/programs/tiles.py, a pass of XLA, and an
exported file whose kernels ran on the GPU of the browser. Writes docs/images/overview-*.png,
explorer-*.png, tile-*.png, import-*.png and gpu-*.png, light and dark, of 256 colours each: the
page is flat, so that nobody sees the difference, and the files stay small.

`python -m tests.screenshots --states FOLDER` takes a picture of every state of the page in place of
these: FOLDER/1280x720-light/overview.png. `--only` and `--size` choose some of them.
"""

from __future__ import annotations

import argparse
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any, Final

import numpy as np
from playwright.sync_api import Browser, Error, ViewportSize, expect, sync_playwright

from tests.browser.explorer import LARGE
from tests.browser.served import PROGRAMS, ROOT, Process, environment, export, record, serve
from tests.browser.test_webgpu import ARGUMENTS as WEBGPU
from tests.browser.tiles import tile_places
from tests.browser_setup import find_browser
from tests.states.scenes import Scene, scenes
from tests.states.state import Show
from tests.states.states import STATES
from viz.cli import main as main_of_uopviz
from viz.views.store import Store

IMAGES: Final = ROOT / "docs" / "images"
DUMP: Final = ROOT / "tests" / "viz" / "importers" / "dumps" / "xla"
SIZE: Final[ViewportSize] = {"width": 1920, "height": 1080}
TALL: Final[ViewportSize] = {"width": 1000, "height": 1150}
"""Of one column: what is beside the tables of the GPU is elsewhere."""
SMALL: Final[ViewportSize] = {"width": 1440, "height": 900}
ARGUMENTS: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
SIZES: Final = tuple(
    f"{window}-{scheme}"
    for window in ("1280x720", "1440x900", "1920x1080")
    for scheme in ("light", "dark")
)
SETTLE: Final = 400
"""Until what is drawn late is drawn, ms."""
Array = np.ndarray[Any, np.dtype[Any]]
_CHUNK: Final = struct.Struct(">I")


def main() -> int:
    """Exit status 1 where there is no browser, or a state could not be reached."""
    options = _options()
    path = find_browser()
    if path is None:
        print("no Chromium found: install it, or name one in UOPVIZ_BROWSER", file=sys.stderr)
        return 1
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        if options.states is None:
            take_readme(browser)
            missed = 0
        else:
            missed = take_states(browser, options.states, options.only, options.size)
        browser.close()
    return 1 if missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tests.screenshots", description="Takes pictures of the page.")
    parser.add_argument("--states", type=Path, metavar="FOLDER", help="every state, into a folder")
    parser.add_argument("--only", default="", metavar="REGEX", help="states of these names")
    parser.add_argument(
        "--size",
        default=",".join(SIZES),
        metavar="NAMES",
        help="windows and colours (default: %(default)s)",
    )
    return parser.parse_args()


def record_demo(trace: Path, **more: str) -> Path:
    """Records the demo with the command that a reader would type, and these settings; no picture
    shows a path of the machine that it was taken on."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    setting = environment(VIZ="-1", VIZ_TRACE=str(trace), PATH=path, **more)
    command = ["python", "examples/digits.py"]
    subprocess.run(command, env=setting, cwd=ROOT, capture_output=True, check=True)
    return trace


def take_readme(browser: Browser) -> None:
    """The pictures of the README."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        trace = record_demo(Path(folder) / "digits.viz")
        with serve(trace) as server:
            place = telling_step(server)
            others = record(PROGRAMS / "tiles.py", Path(folder) / "tiles.viz")
            for scheme in ("light", "dark"):
                for name, png in (
                    ("overview", take_overview(browser, server, scheme)),
                    ("explorer", take(browser, server, place, scheme)),
                ):
                    file = IMAGES / f"{name}-{scheme}.png"
                    file.write_bytes(quantised(png))
                    print(f"{file.relative_to(ROOT)}  {file.stat().st_size:,} bytes")
        take_gpu(browser, Path(folder))
        with serve(others) as server:
            for scheme in ("light", "dark"):
                file = IMAGES / f"tile-{scheme}.png"
                file.write_bytes(quantised(take_tile(browser, server, scheme)))
                print(f"{file.relative_to(ROOT)}  {file.stat().st_size:,} bytes")
        take_imported(browser, Path(folder))


def take_imported(browser: Browser, folder: Path) -> None:
    """XLA's fusion of a small function of JAX, from the dump that the tests of imports read: its
    graphs above its text."""
    trace = folder / "jax.viz"
    main_of_uopviz(["import", "-o", str(trace), str(DUMP)])
    rows = Store(trace).tree()["rows"]
    number = next(row["id"] for row in rows if row["name"] == "fusion")
    with serve(trace) as server:
        for scheme in ("light", "dark"):
            context = browser.new_context(
                viewport=SMALL, color_scheme=scheme, reduced_motion="reduce"
            )
            page = context.new_page()
            page.goto(f"{server.url}#v=graphs&r={number}")
            expect(page.locator(".changed")).to_be_visible()
            page.keyboard.press("s")
            expect(page.locator(".sources .ln.da").first).to_be_visible()
            page.wait_for_timeout(3 * SETTLE)
            file = IMAGES / f"import-{scheme}.png"
            file.write_bytes(quantised(page.screenshot()))
            context.close()
            print(f"{file.relative_to(ROOT)}  {file.stat().st_size:,} bytes")


def take_gpu(browser: Browser, folder: Path) -> None:
    """An exported file whose kernels have run on the GPU of the browser, and whose captured step
    has, with the values of the run."""
    trace = record_demo(folder / "captured.viz", VIZ_CAPTURE="TinyJit of *")
    exported = export(trace, folder / "captured.html", "--values")
    launched = browser.browser_type.launch(executable_path=find_browser(), args=[*WEBGPU])
    for scheme in ("light", "dark"):
        context = launched.new_context(viewport=TALL, color_scheme=scheme, reduced_motion="reduce")
        page = context.new_page()
        page.goto(exported.as_uri())
        page.get_by_role("button", name="Run all kernels here").click()
        page.get_by_role("button", name="Run it", exact=True).click()
        expect(page.get_by_role("button", name="Run all again")).to_be_visible(timeout=300_000)
        steps = page.get_by_role("list", name="Captured steps").get_by_role("listitem")
        step = steps.filter(has_text="TinyJit of step")
        step.get_by_role("button", name="Run it here").click()
        expect(step.get_by_role("table", name="Kernels of the step")).to_be_visible(timeout=60_000)
        page.locator(".ov-sec", has=steps).evaluate("el => el.scrollIntoView()")
        page.mouse.move(2, TALL["height"] - 2)
        page.wait_for_timeout(SETTLE)
        file = IMAGES / f"gpu-{scheme}.png"
        file.write_bytes(quantised(page.screenshot()))
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size:,} bytes")
        context.close()
    launched.close()


def take_tile(browser: Browser, server: Process, scheme: Any) -> bytes:
    """A register tile with a lane that is lit, beside its node."""
    context = browser.new_context(viewport=SMALL, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{server.url}#{tile_places(server)['register']}")
    near = page.locator(".sec.tile canvas.near")
    expect(near).to_be_visible(timeout=60_000)
    page.locator(".sec.tile").evaluate("el => el.scrollIntoView()")
    near.focus()
    for key in (*["ArrowDown"] * 3, *["ArrowRight"] * 12, "Enter"):
        near.press(key)
    page.mouse.move(2, SMALL["height"] - 2)
    page.wait_for_timeout(SETTLE)
    picture = page.screenshot()
    context.close()
    return picture


def take_states(browser: Browser, folder: Path, only: str, sizes: str) -> int:
    """A picture of every state whose name matches, in each size; how many were not reached."""
    states = [state for state in STATES if re.search(only, state.name)]
    traces = folder / "traces"
    traces.mkdir(parents=True, exist_ok=True)
    missed = 0
    for size in sizes.split(","):
        (folder / size).mkdir(exist_ok=True)
        with scenes(traces, {state.scene for state in states}) as opened:
            for state in states:
                said = _take_state(
                    browser, state.show, opened[state.scene], folder, size, state.name
                )
                missed += bool(said)
                if said:
                    print(f"{size} {state.name}: {said}", file=sys.stderr, flush=True)
    return missed


def _take_state(
    browser: Browser, show: Show, scene: Scene, folder: Path, size: str, name: str
) -> str:
    """Takes one picture, also where the state was not reached; then what was said."""
    window, _, scheme = size.partition("-")
    width, height = map(int, window.split("x"))
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(15_000)
    page = context.new_page()
    said = ""
    try:
        show(page, scene)
    except (AssertionError, Error) as error:
        said = str(error).strip().partition("\n")[0]
    page.wait_for_timeout(SETTLE)
    page.screenshot(path=folder / size / f"{name}.png")
    context.close()
    return said


def telling_step(server: Process) -> str:
    """The part of the address behind `#` of the step that shows most at a glance: of a pass that
    fits the window, a rule with a short equation and several bindings, changing a few nodes."""
    rows = server.get("tree")["rows"]
    rules = {rule["id"]: rule for rule in server.get("rules")}
    kernels = {row["row"] for row in rows if row["label"] == "kernel"}
    best: tuple[float, str] | None = None
    for row in rows:
        if row["parent"] not in kernels or row["steps"] < 12 or not 30 <= row["nodes"] <= 90:
            continue
        bundle = server.get(f"rewrites/{row['id']}")
        for k, step in enumerate(bundle["steps"], start=1):
            points = _points(step, rules[step["rule"]], k / len(bundle["steps"]))
            if points is not None and (best is None or points > best[0]):
                best = points, f"r={row['id']}&k={k}&s={step['result']}"
    if best is None:
        raise SystemExit("no step of the run removes and adds a few nodes")
    return best[1]


def _points(step: dict[str, Any], rule: dict[str, Any], place: float) -> float | None:
    removed, added, moved = (len(step[part]) for part in ("removed", "added", "moved"))
    if not 2 <= removed <= 4 or not 1 <= added <= 4 or moved > 3 or len(step["binds"]) < 3:
        return None
    length = len(rule["equation"])
    if not 12 <= length <= 38:
        return None
    return 2 * (removed + added) + 3 * moved - abs(length - 26) / 4 - 4 * abs(place - 0.5)


def take_overview(browser: Browser, server: Process, scheme: Any) -> bytes:
    """A picture of the page that opens first, compared with what this machine can do."""
    context = browser.new_context(viewport=SMALL, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.goto(server.url)
    expect(page.locator(".ov-row").first).to_be_visible()
    measure = page.get_by_role("button", name="Measure this machine")
    if measure.count():
        measure.click()
    expect(page.get_by_role("button", name="Measure again")).to_be_visible(timeout=60_000)
    page.wait_for_timeout(400)
    picture = page.screenshot()
    context.close()
    return picture


def take(browser: Browser, server: Process, place: str, scheme: Any) -> bytes:
    """A picture of a step, with the sources of its kernel below."""
    context = browser.new_context(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    page = context.new_page()
    context.add_init_script(LARGE)
    page.goto(f"{server.url}#{place}")
    sources = page.locator("section.sources")
    for name in ("Python", "PTX for", "AMD ISA for"):
        column = sources.get_by_role("region", name=re.compile(f"^{name}")).first
        expect(column.locator(".cm-line").first).to_be_visible(timeout=60_000)
    page.keyboard.press("0")  # the change in view
    page.mouse.move(2, SIZE["height"] - 2)
    page.wait_for_timeout(400)
    picture = page.screenshot()
    context.close()
    return picture


def quantised(png: bytes) -> bytes:
    """An 8-bit RGB or RGBA picture as one of 256 colours. Format: Portable Network Graphics, W3C
    Recommendation, third edition."""
    pixels = decoded(png)
    height, width, _ = pixels.shape
    codes = pixels.reshape(-1, 3).astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    colours, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    wanted = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], 1).astype(np.int32)
    parts = wanted[_palette(wanted, counts)]
    nearest = np.empty(len(colours), np.uint8)
    for start in range(0, len(colours), 1024):
        block = wanted[start : start + 1024, None]
        nearest[start : start + 1024] = np.square(block - parts).sum(2).argmin(1)
    rows = nearest[inverse.reshape(-1)].reshape(height, width)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), rows], 1).tobytes()
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"PLTE", parts.astype(np.uint8).tobytes()))
    data = ((b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return png[:8] + b"".join(_chunk(kind, body) for kind, body in (*chunks, *data))


def _palette(colours: Array, counts: Array) -> list[int]:
    """The 128 most frequent colours, then one by one the frequent one that they serve worst: a hue
    that few pixels have stays what it is (farthest-first traversal, Gonzalez 1985)."""
    chosen = np.argsort(-counts, kind="stable")[:128].tolist()
    far = np.full(len(colours), np.inf)
    for i in chosen:
        far = np.minimum(far, np.square(colours - colours[i]).sum(1))
    weight = np.sqrt(counts)
    while len(chosen) < min(256, len(colours)):
        chosen.append(int((far * weight).argmax()))
        far = np.minimum(far, np.square(colours - colours[chosen[-1]]).sum(1))
    return chosen


def _chunk(kind: bytes, body: bytes) -> bytes:
    return _CHUNK.pack(len(body)) + kind + body + _CHUNK.pack(zlib.crc32(kind + body))


def decoded(png: bytes) -> Array:
    """The pixels (height, width, 3) of an 8-bit RGB or RGBA picture that is not interlaced."""
    at, data, shape = 8, b"", (0, 0, 0)
    while at < len(png):
        (size,), kind = _CHUNK.unpack_from(png, at), png[at + 4 : at + 8]
        body = png[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack_from(">IIBB", body)
            assert depth == 8 and colour in (2, 6), "not an 8-bit RGB picture"
            shape = height, width, 3 if colour == 2 else 4
        elif kind == b"IDAT":
            data += body
        at += size + 12
    height, width, samples = shape
    raw = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * samples)
    out = np.zeros((height + 1, width * samples + samples), np.uint8)
    for y, (kind, line) in enumerate(zip(raw[:, 0], raw[:, 1:], strict=True), start=1):
        _unfilter(int(kind), line, out[y], out[y - 1], samples)
    return out[1:, samples:].reshape(height, width, samples)[:, :, :3]


def _unfilter(
    kind: int,
    line: Array,
    out: Array,
    above: Array,
    samples: int,
) -> None:
    """One line, by its filter; `out` and `above` begin with one pixel of zeros."""
    if kind == 0:
        out[samples:] = line
    elif kind == 1:
        steps = line.reshape(-1, samples)
        out[samples:] = np.cumsum(steps, axis=0, dtype=np.uint32).astype(np.uint8).reshape(-1)
    elif kind == 2:
        out[samples:] = line + above[samples:]
    else:
        row, up, left = line.tolist(), above.tolist(), [0] * samples
        for i, value in enumerate(row):
            a, b, c = left[i], up[i + samples], up[i]
            near = (a + b) >> 1 if kind == 3 else _paeth(a, b, c)
            left.append((value + near) & 255)
        out[:] = left


def _paeth(a: int, b: int, c: int) -> int:
    """The neighbour that is nearest to a + b - c (PNG, section 9.4)."""
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


if __name__ == "__main__":
    sys.exit(main())
