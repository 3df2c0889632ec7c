"""Where a server is: a socket on the loopback address, at a port that is asked for or any free one,
and the secret that its address carries. Light: every recorded program imports this.

Never listens on any other address.
"""

from __future__ import annotations

import base64
import errno
import os
import socket
from typing import Final

from core.errors import ServerError

HOST: Final = "127.0.0.1"
_TRIES: Final = 50


def new_token() -> str:
    """A secret that cannot be guessed, of the same random bytes that the module `secrets` takes; to
    import that (it loads OpenSSL) takes 3 ms."""
    return base64.urlsafe_b64encode(os.urandom(24)).decode()


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
            return made, f"port {port} is in use; the page is on port {candidate}"
        return made, ""
    raise ServerError(
        f"port {port} cannot be used: {why}",
        hint="leave --port out to take any free one",
    )
