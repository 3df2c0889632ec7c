"""`CorePart`: what `core`'s adapter adds to a server."""

from __future__ import annotations

from viz.coreserver.actions import CoreActions
from viz.coreserver.checkroutes import check_routes
from viz.coreserver.kernelroutes import kernel_routes
from viz.coreserver.whatifroutes import whatif_routes
from viz.coreserver.workbenchroutes import workbench_routes


class CorePart(CoreActions):
    """The actions with their routes."""

    blueprints = kernel_routes, check_routes, whatif_routes, workbench_routes
