"""`create_app`: the Flask application over the runs that are open."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from flask import Flask
from werkzeug.routing import BaseConverter

from viz.fleet.listed import Fleet
from viz.jobs.jobs import Elsewhere
from viz.server.answers import install_errors
from viz.server.api import api
from viz.server.fleet import fleet as packed_runs
from viz.server.page import page
from viz.server.security import Guard
from viz.server.state import State
from viz.views.runs.run import NAMES, Run

MAX_REQUEST: Final = 1 << 20


class RunConverter(BaseConverter):
    """The name of a run in a path."""

    regex = f"[{NAMES}]"


def create_app(
    store: Run,
    guard: Guard | None = None,
    beside: Sequence[Run] = (),
    cluster: Elsewhere | None = None,
    fleet: Fleet | None = None,
) -> Flask:
    """The application over a run, and those `beside` it. Without a `guard`, one is made; it is
    app.extensions["uopviz_guard"]. `cluster` does jobs in place of this machine;
    `fleet` is a folder of packed runs."""
    app = Flask("viz", static_folder=None)
    app.url_map.converters["run"] = RunConverter
    app.config["MAX_CONTENT_LENGTH"] = MAX_REQUEST
    guard = guard or Guard()
    state = State(store, beside, cluster, fleet)
    app.extensions["uopviz"] = state
    app.extensions["uopviz_guard"] = guard
    guard.install(app)
    install_errors(app)

    def note_request() -> None:
        state.machine.last_request = time.monotonic()

    app.before_request(note_request)
    app.register_blueprint(api)
    app.register_blueprint(packed_runs)
    for part in state.parts:
        for routes in part.blueprints:
            app.register_blueprint(routes)
    app.register_blueprint(page)
    return app
