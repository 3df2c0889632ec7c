"""Runs in JupyterLab, in marimo and in what nbconvert and marimo export, as they are published, in
Chromium: live, saved, opened again without a server, not trusted. Every cell shows the steps of the
trace."""

from __future__ import annotations

import json
import mimetypes
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Frame, Page, Request, Route

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("browser")]

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("jupyterlab", "nbconvert", "ipykernel", "marimo")
RUN = """x = Tensor([[float(i * j % 5) for i in range(8)] for j in range(8)])
((x @ x).relu().sum(axis=1) * 1.25).tolist()"""
CELLS = (
    "%load_ext uopviz\nimport uopviz\nfrom core import Tensor",
    f"%%viz run.viz\n{RUN}",
    "uopviz.show('run.viz')",
    "run = uopviz.open('run.viz')\nrun",
    "run.kernels[0]",
    "(Tensor([1.0, 2.0]) * 2).schedule()",
)
MARIMO = f"""import marimo

app = marimo.App()


@app.cell
def _():
    import uopviz
    from core import Tensor

    return Tensor, uopviz


@app.cell
def _(Tensor, uopviz):
    with uopviz.record("marimo.viz"):
        {RUN.replace(chr(10), chr(10) + " " * 8)}
    trace = "marimo.viz"
    uopviz.show(trace)
    return (trace,)


@app.cell
def _(trace, uopviz):
    run = uopviz.open(trace)
    uopviz.show(run, height=500)
    return (run,)


@app.cell
def _(trace, uopviz):
    uopviz.show(trace)
    return


@app.cell
def _(run):
    run.kernels[0]
    return


@app.cell
def _(Tensor, uopviz):
    uopviz.show((Tensor([1.0, 2.0]) * 2).schedule())
    return
"""
"""The same cells for marimo."""
FRAMES = 3
"""Cells that show the run."""
SECONDS = 60_000
"""Milliseconds that a front end may take, on a machine that is busy."""


@pytest.fixture(scope="module")
def programs() -> Path:
    """Those of an environment with the front ends and uopviz."""
    made = ROOT / ".venv" / "peers" / "notebooks"
    done = made / ".done"
    if not done.exists() or done.read_text() != " ".join(PACKAGES):
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(made)], check=True)
        pip = [str(made / "bin" / "python"), "-m", "pip", "install", "-q", "-e", str(ROOT)]
        subprocess.run([*pip, *PACKAGES], check=True)
        done.write_text(" ".join(PACKAGES))
    return made / "bin"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the notebooks, and with all that front ends keep. JupyterLab has only the cells
    in the page that are in sight."""
    made = tmp_path_factory.mktemp("home")
    settings = made / "lab" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text('{"windowingMode": "full"}')
    cells = [cell("code", text, execution_count=None, outputs=[]) for text in CELLS]
    cells += [cell("markdown", f"Paragraph {at}.\n" * 12) for at in range(150)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    save(made / "run.ipynb", {"kernelspec": kernel}, cells)
    (made / "note.py").write_text(MARIMO)
    save(made / "empty.ipynb", {"kernelspec": kernel}, [cell("markdown", "Nothing.")])
    return made


def cell(kind: str, text: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": text, **more}


def save(path: Path, metadata: dict[str, Any], cells: list[dict[str, Any]]) -> None:
    notebook = {"metadata": metadata, "nbformat": 4, "nbformat_minor": 4, "cells": cells}
    path.write_text(json.dumps(notebook))


def environment(home: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("VIZ", "PYTHONPATH"))}
    folders = ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "XDG_CACHE_HOME")
    kept |= {name: str(home / "kept" / name.lower()) for name in folders}
    return kept | {"JUPYTERLAB_SETTINGS_DIR": str(home / "lab"), "JUPYTER_NO_CONFIG": "1"}


@contextmanager
def serving(command: list[str], home: Path, path: str) -> Iterator[str]:
    """A server with a port of its own; its address, once it answers at `path`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (home / "log.txt").open("w")
    server = subprocess.Popen(
        [part.format(port=port) for part in command],
        cwd=home,
        env=environment(home),
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            with suppress(OSError), urllib.request.urlopen(address + path, timeout=10):
                break
            assert server.poll() is None, (home / "log.txt").read_text()
            time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=60)
        log.close()


@pytest.fixture(scope="module")
def lab(programs: Path, home: Path) -> Iterator[Callable[[str], str]]:
    """Addresses of notebooks in JupyterLab."""
    command = [str(programs / "jupyter-lab"), "--no-browser", "--allow-root"]
    command += ["--ServerApp.port={port}", "--IdentityProvider.token=t", "--LabApp.news_url="]
    command += [f"--ServerApp.root_dir={home}", "--LabApp.check_for_updates_class="]
    with serving(command[:-1], home, "/api/status?token=t") as address:
        yield lambda name: f"{address}/lab/tree/{name}?token=t&reset"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1400, "height": 3000})
    made.set_default_timeout(SECONDS)
    yield made
    made.close()


class Watched:
    """A page, with what its frames asked for, and what went wrong in them."""

    def __init__(self, context: BrowserContext) -> None:
        self.page = context.new_page()
        self.all: list[str] = []
        self.of_frames: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", self._asked)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _asked(self, request: Request) -> None:
        if not request.url.startswith(("data:", "blob:", "about:")):
            self.all.append(request.url)
            if not request.is_navigation_request() and is_ours(request.frame):
                self.of_frames.append(request.url)


def is_ours(frame: Frame) -> bool:
    return frame.name.startswith("uopviz-")


def frames(page: Page, count: int) -> list[Frame]:
    """The frames of runs, once each has drawn its page; lazy ones are scrolled to."""
    page.wait_for_function(f"document.querySelectorAll('iframe[name^=uopviz]').length >= {count}")
    found: list[Frame] = []
    for at in range(count):
        one = page.locator("iframe[name^=uopviz]").nth(at)
        one.scroll_into_view_if_needed()
        frame = one.element_handle().content_frame()
        assert frame is not None
        frame.wait_for_selector("nav >> text=Rules")
        found.append(frame)
    return found


def steps_of(trace: Path) -> str:
    """The matches that are in a trace, as a reader sees them."""
    sql = "SELECT count(*) FROM matches"
    command = [sys.executable, "-m", "viz", "query", str(trace), sql, "--json"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return f"{json.loads(said.stdout)['rows'][0][0]:,} steps"


def alike(page: Page, steps: str, count: int = FRAMES) -> list[Frame]:
    """The frames of all cells: each says so, as the line above it does."""
    found = frames(page, count)
    for frame in found:
        frame.wait_for_function("text => document.body.innerText.includes(text)", arg=steps)
        element = frame.frame_element()
        assert steps in str(element.get_attribute("title"))
        assert steps in element.evaluate("e => e.closest('.uopviz').innerText")
    return found


def scroll(page: Page, top: int) -> None:
    page.evaluate("top => (document.querySelector('.jp-WindowedPanel-outer').scrollTop = top)", top)
    page.wait_for_timeout(2000)


def test_jupyterlab(
    lab: Callable[[str], str], home: Path, programs: Path, context: BrowserContext
) -> None:
    """Live, scrolled away and back, saved, opened again without a kernel, not trusted."""
    live = Watched(context)
    live.page.goto(lab("run.ipynb"))
    live.page.wait_for_selector(".jp-CodeCell")
    live.page.wait_for_selector("text=Python 3 (ipykernel) | Idle")
    live.page.get_by_role("menuitem", name="Run", exact=True).click()
    live.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    live.page.wait_for_selector("iframe[name^=uopviz]", state="attached")
    live.page.wait_for_timeout(5000)
    scroll(live.page, 0)
    live.page.screenshot(path=str(home / "live.png"))
    found = frames(live.page, FRAMES)
    steps = steps_of(home / "run.viz")
    alike(live.page, steps)
    found[0].click("nav >> text=Rules")
    found[0].wait_for_function("location.hash.includes('rules')")
    name = found[0].name
    scroll(live.page, 10**6)
    scroll(live.page, 0)
    again = frames(live.page, FRAMES)[0]
    assert again.name == name
    again.wait_for_function("location.hash.includes('rules')")
    live.page.get_by_role("menuitem", name="File", exact=True).click()
    live.page.get_by_role("menuitem", name="Save Notebook", exact=False).first.click()
    outputs = ""
    for _ in range(100):
        outputs = (home / "run.ipynb").read_text()
        if outputs.count(" srcdoc=") == FRAMES:
            break
        live.page.wait_for_timeout(200)
    assert outputs.count(" srcdoc=") == FRAMES and outputs.count('"image/svg+xml"') == 2
    assert live.of_frames == [] and live.errors == []
    live.page.close()

    shutil.copyfile(home / "run.ipynb", home / "again.ipynb")
    command = [str(programs / "jupyter"), "trust", "again.ipynb"]
    subprocess.run(command, cwd=home, env=environment(home), check=True)
    saved = Watched(context)
    saved.page.goto(lab("again.ipynb"))
    alike(saved.page, steps)
    assert saved.of_frames == [] and saved.errors == []
    saved.page.close()

    # another text, which nobody has trusted
    changed = (home / "run.ipynb").read_text().replace("Paragraph 0", "Paragraph zero")
    (home / "foreign.ipynb").write_text(changed)
    foreign = Watched(context)
    foreign.page.goto(lab("foreign.ipynb"))
    picture = foreign.page.locator(".jp-OutputArea img[alt]")
    picture.first.wait_for()
    foreign.page.screenshot(path=str(home / "foreign.png"))
    assert picture.count() == FRAMES and foreign.page.locator("iframe[srcdoc]").count() == 0
    assert all(steps in str(one.get_attribute("alt")) for one in picture.all())
    size = picture.first.evaluate("e => [e.naturalWidth, e.getBoundingClientRect().width]")
    assert min(size) > 300
    foreign.page.close()


def test_nbconvert(home: Path, programs: Path, context: BrowserContext) -> None:
    """What it exports asks for no more than a notebook without a run does, and shows the same."""
    for name in ("run", "empty"):
        command = [str(programs / "jupyter"), "nbconvert", "--to", "html", f"{name}.ipynb"]
        subprocess.run(command, cwd=home, env=environment(home), check=True, capture_output=True)
    context.route("http*://**", lambda route: route.abort())
    pages = {name: Watched(context) for name in ("run", "empty")}
    for name, one in pages.items():
        one.page.goto((home / f"{name}.html").as_uri())
    alike(pages["run"].page, steps_of(home / "run.viz"))
    pages["run"].page.screenshot(path=str(home / "exported.png"))
    assert pages["run"].of_frames == []
    asked = [{url for url in one.all if url.startswith("http")} for one in pages.values()]
    assert asked[0] == asked[1]


def in_marimo(page: Page, steps: str) -> None:
    """All cells as they should be: frames as high as was asked for, over the picture of the
    facts."""
    found = alike(page, steps)
    boxes = [one.frame_element().bounding_box() for one in found]
    assert [round(box["height"]) for box in boxes if box] == [640, 500, 640]
    for one in found:
        assert one.frame_element().evaluate(
            """e => { const p = e.closest('.uopviz').querySelector('img').getBoundingClientRect();
            return Math.abs(p.top - e.getBoundingClientRect().top) < 3; }"""
        )


def test_marimo(home: Path, programs: Path, context: BrowserContext) -> None:
    """As an application."""
    options = ["--headless", "--no-token", "--port={port}", "note.py"]
    with serving([str(programs / "marimo"), "run", *options], home, "/health") as address:
        live = Watched(context)
        live.page.goto(address, wait_until="commit")
        live.page.wait_for_selector("iframe[name^=uopviz]", state="attached")
        in_marimo(live.page, steps_of(home / "marimo.viz"))
        live.page.screenshot(path=str(home / "marimo.png"))
        assert live.of_frames == [] and live.errors == []
        live.page.close()


def test_marimo_exports(home: Path, programs: Path, context: BrowserContext) -> None:
    """What it exports, opened from the disk, shows the same. The front end itself, which such a
    page asks a public server for, is here that of the package."""
    command = [str(programs / "marimo"), "--yes", "export", "html", "note.py", "-o", "marimo.html"]
    subprocess.run(command, cwd=home, env=environment(home), check=True, capture_output=True)
    (static,) = programs.parent.glob("lib/python*/site-packages/marimo/_static")

    def front_end(route: Route) -> None:
        file = static / route.request.url.partition("/dist/")[2].partition("?")[0]
        if file.is_file():
            kind = mimetypes.guess_type(file.name)[0]
            allowed = {"access-control-allow-origin": "*"}
            route.fulfill(path=file, content_type=kind, headers=allowed)
        else:
            route.abort()

    context.route(lambda url: url.startswith("http"), front_end)
    page = Watched(context)
    page.page.goto((home / "marimo.html").as_uri(), wait_until="commit")
    in_marimo(page.page, steps_of(home / "marimo.viz"))
    page.page.screenshot(path=str(home / "marimo_exported.png"))
    assert page.of_frames == []
