"""A client of the server that comes from its own address and has the token."""

from __future__ import annotations

import gzip
import json
import time
from typing import Any

from flask.testing import FlaskClient

from viz.server.answers import Encoded
from viz.server.security import HEADER

TOKEN, PORT = "secret", 4711
HOST = f"127.0.0.1:{PORT}"


def value_of(encoded: Encoded | None) -> Any:
    """The value of an answer of the server's state."""
    assert encoded is not None
    body = gzip.decompress(encoded.body) if encoded.is_packed else encoded.body
    return json.loads(body)


class TokenClient(FlaskClient):
    """Sends the token with every request."""

    def open(self, *args: Any, **kwargs: Any) -> Any:
        headers = {**kwargs.pop("headers", {}), HEADER: TOKEN}
        return super().open(*args, base_url=f"http://{HOST}", headers=headers, **kwargs)


def ended(client: FlaskClient, job: int, seconds: float = 60) -> dict[str, Any]:
    """A job, once it has ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        state: dict[str, Any] = client.get(f"/api/jobs/{job}").get_json()
        if state["state"] != "running":
            return state
        time.sleep(0.05)
    raise AssertionError("the job did not end")
