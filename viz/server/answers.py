"""Answers of the API: JSON, compressed where it pays, and errors in one shape.

Knows no route.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from typing import Any, Final

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from core.errors import UopvizError
from viz.format.jsontext import to_json

LEVEL: Final = 1
"""Of gzip: fast, since a page waits for it."""
_WORTH_COMPRESSING: Final = 4096


@dataclass(frozen=True)
class Encoded:
    """A value as JSON, made once and sent for every request."""

    body: bytes
    is_packed: bool
    """Whether `body` is compressed with gzip, which it is where that pays."""
    tag: str
    """Its ETag: the same for the same value."""

    @classmethod
    def of(cls, value: Any) -> Encoded:
        """A value, encoded."""
        body = to_json(value)
        tag = hashlib.blake2b(body, digest_size=12).hexdigest()
        packs = len(body) > _WORTH_COMPRESSING
        return cls(gzip.compress(body, LEVEL) if packs else body, packs, tag)

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return len(self.body)

    @property
    def text(self) -> bytes:
        """The JSON."""
        return gzip.decompress(self.body) if self.is_packed else self.body

    def answer(self) -> Response:
        """It as an answer; to one who has it already, only that nothing has changed."""
        if request.if_none_match.contains_weak(self.tag):
            response = Response(status=304)
        elif self.is_packed and _takes_gzip():
            response = Response(self.body, content_type="application/json")
            response.headers["Content-Encoding"] = "gzip"
        else:
            response = Response(self.text, content_type="application/json")
        if self.is_packed:
            response.headers["Vary"] = "Accept-Encoding"
        response.set_etag(self.tag, weak=True)  # plain and compressed have the same
        return response


def answer(value: Any) -> Response:
    """A value as an answer."""
    return Encoded.of(value).answer()


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
            "this is a mistake of uopviz; the traceback is in the terminal that it runs in, or in "
            "viewer.log in the folder of traces",
        )

    del deliberate, http, unexpected
