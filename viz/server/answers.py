"""Answers of the API: JSON, compressed where it pays, and errors in one shape.

Knows no route.
"""

from __future__ import annotations

import gzip
import json
from typing import Any, Final

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from core.errors import UopvizError

_WORTH_COMPRESSING: Final = 4096
_LEVEL: Final = 1


def to_json(value: Any) -> bytes:
    """A value as compact JSON."""
    return json.dumps(value, separators=(",", ":")).encode()


def answer(value: Any) -> Response:
    """A value as an answer."""
    return raw_answer(to_json(value))


def raw_answer(body: bytes) -> Response:
    """JSON text as an answer."""
    response = Response(body, content_type="application/json")
    if len(body) > _WORTH_COMPRESSING and "gzip" in request.headers.get("Accept-Encoding", ""):
        response.set_data(gzip.compress(body, _LEVEL))
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Vary"] = "Accept-Encoding"
    return response


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
