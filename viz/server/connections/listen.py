"""Where a server is: a socket on the loopback address, at a port that is asked for, at the one that
a trace has to itself, or at any free one, and the secret that its address carries. Light: every
recorded program imports this.

Never listens on any other address.
"""

from __future__ import annotations

import base64
import errno
import os
import socket
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Final

from core.errors import ServerError

HOST: Final = "127.0.0.1"
TOKEN: Final = "UOPVIZ_TOKEN"
"""How the viewer of a running program is given its token: nobody else can read an environment."""
_TRIES: Final = 50
_FIRST, _COUNT = 61_000, 4_500
"""Ports of traces: of those for private use (from 49152 on), the ones that Linux does not give to
outgoing connections (up to 60999)."""


def new_token() -> str:
    """A secret that cannot be guessed, of the same random bytes that the module `secrets` takes; to
    import that (it loads OpenSSL) takes 3 ms."""
    return base64.urlsafe_b64encode(os.urandom(24)).decode()


def port_of(trace: Path) -> int:
    """The port of a trace: the same whenever it is served, so that links to its page and tabs that
    are open keep their address. Two traces may have the same one."""
    return _FIRST + zlib.crc32(os.fsencode(os.path.abspath(trace))) % _COUNT


def listen_for(trace: Path, asked: int | None, wished: int | None) -> tuple[socket.socket, str]:
    """A listening socket for the page of a trace, and a sentence to say, "" for none: at the port
    `asked` and no other; else at the one that is `wished`, or the next free one; else at that of
    the trace, or any free one. Raises ServerError where none can be used."""
    if asked is not None:
        return listen(asked)
    if wished is not None:
        return listen(wished, or_next=True)
    with suppress(ServerError):
        return listen(port_of(trace))
    return listen(0)


def listen(port: int, or_next: bool = False) -> tuple[socket.socket, str]:
    """A listening socket at `port` (0: any free one), and a sentence to say, "" for none.

    Where `port` is in use: with `or_next` takes the next free one and says so. Raises ServerError
    where none can be used, and says why.
    """
    why = "it is no port, these go from 0 to 65535"
    for candidate in range(port, port + _TRIES if or_next and port else port + 1):
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((HOST, candidate))
            made.listen(64)
        except OverflowError:
            made.close()
            continue
        except OSError as error:
            made.close()
            taken = error.errno == errno.EADDRINUSE
            why = "something listens on it already" if taken else error.strerror or str(error)
            if error.errno == errno.EACCES:
                why = "the system keeps it for programs with more rights"
            continue
        if candidate != port and port:
            said = f"port {port} is in use, perhaps by the page of an earlier program"
            return made, f"{said}; this page is on port {candidate}"
        return made, ""
    raise ServerError(
        f"port {port} cannot be used: {why}",
        hint="--port 0 takes any free one",
    )
