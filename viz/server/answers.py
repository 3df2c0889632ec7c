"""Answers of the API: JSON, compressed where it pays, and errors in one shape.

Knows no route.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import Any, Final

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from core.errors import UopvizError
from viz.views.jsontext import LEVEL, to_json

_WORTH_COMPRESSING: Final = 4096


@dataclass
class Encoded:
    """A value as JSON, and compressed where that pays; made once, and sent to whoever asks."""

    body: bytes
    packed: bytes | None

    @classmethod
    def of(cls, value: Any) -> Encoded:
        """A value in both forms."""
        body = to_json(value)
        return cls(body, gzip.compress(body, LEVEL) if len(body) > _WORTH_COMPRESSING else None)

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return len(self.body) + len(self.packed or b"")

    def answer(self) -> Response:
        """It as an answer."""
        response = Response(self.body, content_type="application/json")
        if self.packed is not None:
            response.headers["Vary"] = "Accept-Encoding"
            if _takes_gzip():
                response.data = self.packed
                response.headers["Content-Encoding"] = "gzip"
        return response


def answer(value: Any) -> Response:
    """A value as an answer."""
    return Encoded.of(value).answer()


def packed_answer(packed: bytes) -> Response:
    """What `pack` made as an answer."""
    zipped = _takes_gzip()
    body = packed if zipped else gzip.decompress(packed)
    response = Response(body, content_type="application/json")
    response.headers["Vary"] = "Accept-Encoding"
    if zipped:
        response.headers["Content-Encoding"] = "gzip"
    return response


def _takes_gzip() -> bool:
    return "gzip" in request.headers.get("Accept-Encoding", "")


def problem(status: int, what: str, where: str = "", hint: str = "") -> Response:
    """An error."""
    body = to_json({"error": {"what": what, "where": where, "hint": hint}})
    return Response(body, status, content_type="application/json")


def install_errors(app: Flask) -> None:
    """Makes every error of a route an answer in the one shape."""

    @app.errorhandler(UopvizError)
    def deliberate(error: UopvizError) -> Response:
        return problem(400, error.what, error.where, error.hint)

    @app.errorhandler(HTTPException)
    def http(error: HTTPException) -> Response:
        return problem(error.code or 500, error.description or error.name, request.path)

    @app.errorhandler(Exception)
    def unexpected(error: Exception) -> Response:
        app.logger.error("%s %s", request.method, request.path, exc_info=error)
        return problem(
            500,
            f"the server failed with {type(error).__name__}: {error}",
            request.path,
            "this is a mistake of uopviz; the terminal that it runs in has the traceback",
        )

    del deliberate, http, unexpected
