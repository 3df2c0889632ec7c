"""`uopviz mcp`: a server of the Model Context Protocol on standard input and output; no port.

Its protocol is that of the package `mcp`, which only this needs.
"""

from __future__ import annotations

import argparse
import asyncio
from importlib import import_module
from typing import Any, Final

from core.errors import TraceError
from viz.assistant.runs import Runs
from viz.command.line.names import find_trace
from viz.views.runs.run import NAMES

_ABOUT: Final = (
    "Recorded runs of a compiler: every rewrite of every pass, with its rule. Answers are JSON of "
    "at most 16,000 characters; `cut` says what is not in one, and how to ask for less. Nodes are "
    "called u123, passes by number or name. Begin with overview."
)


def serve(options: argparse.Namespace) -> int:
    """Serves until standard input ends."""
    if len(options.traces) > len(NAMES):
        raise TraceError(f"more than {len(NAMES)} runs are too many", hint="give fewer of them")
    paths = list(dict.fromkeys(find_trace(name).path.absolute() for name in options.traces))
    for path in paths:
        if not path.is_file():
            raise TraceError("there is no such trace", str(path), "check the path")
    try:
        server, stdio, types = (
            import_module(name) for name in ("mcp.server.lowlevel", "mcp.server.stdio", "mcp_types")
        )
    except ImportError as error:
        raise TraceError(
            "this server needs the package mcp", hint="pip install 'uopviz[mcp]'"
        ) from error
    options.progress.close()
    runs = Runs(paths, options.allow_run)
    try:
        asyncio.run(_served(runs, server, stdio, types))
    finally:
        runs.close()
    return 0


async def _served(runs: Runs, server: Any, stdio: Any, types: Any) -> None:
    async def listed(_context: Any, _parameters: Any) -> Any:
        return types.ListToolsResult(
            tools=[
                types.Tool(name=t.name, description=t.doc, input_schema=t.schema(runs.names))
                for t in runs.tools.values()
            ]
        )

    async def called(_context: Any, parameters: Any) -> Any:
        text, good = await asyncio.to_thread(runs.ask, parameters.name, parameters.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], is_error=not good
        )

    made = server.Server("uopviz", instructions=_ABOUT, on_list_tools=listed, on_call_tool=called)
    async with stdio.stdio_server() as (reading, writing):
        await made.run(reading, writing, made.create_initialization_options())
