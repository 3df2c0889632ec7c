"""What the routes of this room ask of the server: its actions. Knows no route."""

from __future__ import annotations

from viz.coreserver.actions import CoreActions
from viz.server.requests import state


def actions() -> CoreActions:
    """Those of the server that answers."""
    return state().part(CoreActions)
