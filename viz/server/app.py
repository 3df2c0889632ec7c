"""`create_app`: the Flask application over one run."""

from __future__ import annotations

import time
from typing import Final

from flask import Flask

from viz.server.answers import install_errors
from viz.server.api import api
from viz.server.page import page
from viz.server.security import Guard
from viz.server.state import State
from viz.views.run import Run

MAX_REQUEST: Final = 1 << 20


def create_app(store: Run, guard: Guard | None = None) -> Flask:
    """The application. Without a `guard`, one is made; it is app.extensions["uopviz_guard"]."""
    app = Flask("viz", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_REQUEST
    guard = guard or Guard()
    state = State(store)
    app.extensions["uopviz"] = state
    app.extensions["uopviz_guard"] = guard
    guard.install(app)
    install_errors(app)

    def note_request() -> None:
        state.last_request = time.monotonic()

    app.before_request(note_request)
    app.register_blueprint(api)
    app.register_blueprint(page)
    return app
