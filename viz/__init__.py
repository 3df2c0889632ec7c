"""uopviz: records every rewrite of a run, and shows it.

`with viz.record("t.viz"):` records a block; `VIZ=1 python program.py` a whole run. `TraceWriter`
writes the same traces for any other compiler, `Store` reads them.
"""

from viz.live import record as record
from viz.store import Store as Store
from viz.writer import TraceWriter as TraceWriter
