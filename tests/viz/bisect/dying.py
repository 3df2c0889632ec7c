"""A worker that crashes, hangs or answers, as its task says."""

from __future__ import annotations

import json
import os
import sys
import time

for line in sys.stdin:
    match json.loads(line)["do"]:
        case "crash":
            os.abort()
        case "hang":
            time.sleep(600)
        case text:
            print(json.dumps({"result": {"said": text, "process": os.getpid()}}), flush=True)
