"""Every state that the page can be in. tests/screenshots.py takes a picture of each; what must hold
of them is held by tests/browser.
"""

from typing import Final

from tests.states import emulator, graphs, pages

STATES: Final = (*graphs.STATES, *emulator.STATES, *pages.STATES)
