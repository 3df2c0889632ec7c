"""`uopviz open` and `uopviz serve`: the page of one run or several, served until Ctrl-C; and the
viewer of a program, which serves its page for as long as that is open."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import threading
from contextlib import nullcontext, suppress
from typing import Final

from viz.command.session import open_stores
from viz.environment import wished_port
from viz.fleet.asking import is_packed
from viz.fleet.folder import folder_at
from viz.fleet.listed import Fleet
from viz.server.connections.listen import TOKEN, listen_for
from viz.server.connections.serve import Server
from viz.server.connections.staying import Staying
from viz.server.handover import browser_at
from viz.server.part import cluster_at
from viz.settings import UOPVIZ_STAY
from viz.share.webpage import BUILD, NOT_BUILT, is_built
from viz.terminal import is_terminal, put_json, put_line, say
from viz.views.runs.run import Run

COMPARED: Final = "#v=compare"
"""What is added to the address of the page for it to open on what differs between A and B."""
LISTED: Final = "#v=fleet"
"""The same, for it to open on packed runs."""


def serve(options: argparse.Namespace) -> int:
    """Serves traces, and opens the browser where that is wanted. The page of several opens on what
    differs between the first two; that of a folder of packed runs lists them, and has the youngest
    of them open."""
    fleet = None
    if options.trace is not None and is_packed(options.trace):
        fleet = Fleet(folder_at(options.trace))
        fleet.prepare()
        options.trace = str(fleet.youngest())
    store, *beside = open_stores(options)
    if options.live:
        return _serve_live(store, options)
    cluster = None if options.executor is None else cluster_at(options.executor)
    sock, notice = listen_for(store.path, options.port, wished_port())
    server = Server(store, sock, beside=beside, cluster=cluster, fleet=fleet)
    url = server.url + (LISTED if fleet else COMPARED if beside else "")
    options.progress.close()
    if notice:
        say(notice)
    if options.json:
        put_json({"url": url, "port": server.port, "file": str(store.path)})
        sys.stdout.flush()
    else:
        put_line(url, flush=True)
    if not is_built():
        say(f"{NOT_BUILT}; in a checkout, run: {BUILD}", style="problem")
    if is_terminal(sys.stderr):
        say("Ctrl-C stops the page", name=False, style="hint")
    signal.signal(signal.SIGTERM, _terminate)  # what an export was unpacked to is removed
    shown = options.browser and is_terminal(sys.stdout)
    try:
        with (
            suppress(KeyboardInterrupt),  # how a page is stopped is no failure
            browser_at(url, server.guard.visited) if shown else nullcontext(),
        ):
            server.run()
    finally:
        server.close()
    return 0


def _serve_live(store: Run, options: argparse.Namespace) -> int:
    """The viewer of a running program: `viz/viewer.py` starts it, and has printed its address."""
    server = Server(store, socket.socket(fileno=options.fd), os.environ.pop(TOKEN, None))
    machine, parent = server.state.machine, int(options.parent)
    machine.stays = UOPVIZ_STAY.value
    signal.signal(signal.SIGTERM, _terminate)
    staying = Staying(
        lambda: os.getppid() == parent or store.live,  # processes of the run may outlive the first
        machine.stays,
        lambda: machine.last_request,
        server.guard.visited,
    )

    def watch() -> None:
        staying.wait()
        os.kill(os.getpid(), signal.SIGTERM)  # the main thread ends with its handler

    threading.Thread(target=watch, daemon=True).start()
    try:
        server.run()
    finally:
        server.close()
    return 0


def _terminate(number: int, frame: object) -> None:
    sys.exit(0)
