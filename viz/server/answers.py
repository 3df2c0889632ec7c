"""Answers of the API: JSON, compressed where it pays, and errors in one shape.

Knows no route.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from core.errors import UopvizError

_WORTH_COMPRESSING: Final = 4096
_LEVEL: Final = 1
_PIECE: Final = 256
"""Items of a list that are encoded at once."""
_encode: Final = json.JSONEncoder(separators=(",", ":")).encode


def to_json(value: Any) -> bytes:
    """A value as compact JSON; made in pieces, so that no other thread waits long for the
    interpreter."""
    return "".join(_pieces(value)).encode()


def _pieces(value: Any, depth: int = 3) -> Iterator[str]:
    if isinstance(value, dict) and depth:
        between = "{"
        for key, inside in cast("dict[str, Any]", value).items():
            yield f"{between}{_encode(key)}:"
            yield from _pieces(inside, depth - 1)
            between = ","
        yield "}" if value else "{}"
    elif isinstance(value, list) and len(cast("list[Any]", value)) > _PIECE:
        items = cast("list[Any]", value)
        yield "["
        for at in range(0, len(items), _PIECE):
            yield ("," if at else "") + _encode(items[at : at + _PIECE])[1:-1]
        yield "]"
    else:
        yield _encode(value)


@dataclass
class Encoded:
    """A value as JSON, and compressed where that pays; made once, and sent to whoever asks."""

    body: bytes
    packed: bytes | None

    @classmethod
    def of(cls, value: Any) -> Encoded:
        """A value in both forms."""
        body = to_json(value)
        return cls(body, gzip.compress(body, _LEVEL) if len(body) > _WORTH_COMPRESSING else None)

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


def pack(value: Any) -> bytes:
    """A value as JSON, compressed with gzip."""
    return gzip.compress(to_json(value), _LEVEL)


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
