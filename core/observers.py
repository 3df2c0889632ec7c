"""Starts the observers that are installed next to core, where VIZ asks for them.

They are entry points of the group "uopviz.observers": functions without arguments, called once when
core is imported. Core imports none of them by name, and with VIZ=0 or unset nothing is looked for.
"""

from __future__ import annotations

from core.helpers import VIZ, notice

GROUP = "uopviz.observers"


def start_observers() -> None:
    """Calls every installed observer if VIZ is set; says so on standard error if there is none."""
    if not VIZ:
        return
    # here, because the import alone takes several ms, which a plain run does not pay
    from importlib.metadata import entry_points

    found = entry_points(group=GROUP)
    for entry in found:
        entry.load()()
    if not found:
        notice(f"VIZ={VIZ.value} is set, but no recorder is installed; run: pip install uopviz")
