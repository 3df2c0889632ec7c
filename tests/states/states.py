"""Every state that the page can be in. tests/screenshots.py takes a picture of each;
test_states.py finds faults that can be seen in any of them.
"""

from typing import Final

from tests.states import compare, emulator, graphs, pages, tiles, trials, why

STATES: Final = (
    *graphs.STATES,
    *why.STATES,
    *trials.STATES,
    *emulator.STATES,
    *tiles.STATES,
    *compare.STATES,
    *pages.STATES,
)
