"""A worker that pretends: answers as `core.beam.worker` does, crashes at UNROLL, hangs at LOCAL."""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any

from core.uop.data.args import decode_arg, encode_arg
from core.uop.kernelinfo import Opt, OptOps


def answer(request: dict[str, Any]) -> Any:
    """As a worker answers."""
    if "ask" not in request:
        return {"result": encode_arg((Opt(OptOps.UPCAST, 0, 4),))}
    opts = decode_arg(request["opts"])
    assert isinstance(opts, tuple)
    kinds = [opt.op for opt in opts if isinstance(opt, Opt)]
    if OptOps.UNROLL in kinds:
        os._exit(3)
    if OptOps.LOCAL in kinds:
        threading.Event().wait()
    if OptOps.SWAP in kinds:
        return {"error": {"what": "SWAP is refused", "hint": "leave it out"}}
    return {"result": 0.5 if request["ask"] == "cost" else "a program"}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
