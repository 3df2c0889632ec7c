"""A worker that dies as a wrong kernel would."""

import os
import signal

os.kill(os.getpid(), signal.SIGSEGV)
