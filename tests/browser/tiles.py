"""Nodes of the run of programs/tiles.py that have a picture, at the first and at the last stage."""

from __future__ import annotations

from typing import Any

from tests.browser.served import Process

Data = dict[str, Any]


def tile_places(server: Process) -> dict[str, str]:
    """What the address of a page names: the register tile of a product ("register"), a shared tile,
    a load of it, a matrix instruction, a vector, and an instruction of a kernel without tiles
    ("ordinary"); "last" is one register once vectors are gone, "last-load" and "last-wmma" the
    others there. "kernel" has the number of the product."""
    kernels = {row["name"]: row for row in server.rows() if row["label"] == "kernel"}
    product, softmax = kernels["matmul_64_64_64"], kernels["softmax_64_64"]
    ordinary = next(row for name, row in kernels.items() if name.startswith("r_"))
    first, last = (_Graph(server, product, at) for at in (0, -1))
    vectors, other = _Graph(server, softmax, 0), _Graph(server, ordinary, -1)
    return {
        "register": first.at("DEFINE_REG", layout="acc"),
        "shared": first.at("DEFINE_LOCAL"),
        "load": first.at("LDMATRIX", space="shared"),
        "wmma": first.at("WMMA"),
        "last": last.at("LOAD", layout="acc"),
        "last-load": last.at("LDMATRIX", space="shared"),
        "last-wmma": last.at("WMMA"),
        "vector": vectors.at("DEFINE_REG", kind="RV"),
        "ordinary": other.at("WMMA"),
        "kernel": str(product["id"]),
    }


class _Graph:
    """The graph that a pass of a kernel starts from, with what is said of its tiles."""

    def __init__(self, server: Process, kernel: Data, at: int) -> None:
        rows = server.rows()
        own = [r for r in rows if r["kind"] == "rewrite" and r["parent"] == kernel["row"]]
        self._rewrite = own[at]["id"]
        self._bundle = server.get(f"rewrites/{self._rewrite}")
        said = server.get(f"tiles/{kernel['id']}")
        pairs = zip(said["nodes"]["node"], said["nodes"]["tile"], strict=True)
        self._tiles: dict[int, Data] = {node: said["tiles"][tile] for node, tile in pairs}

    def at(self, op: str, **of: str) -> str:
        """The first node of an op, of a tile that has these fields."""
        bundle = self._bundle
        initial, nodes = bundle["initial"], bundle["nodes"]
        for slot, c in zip(initial["slot"], initial["node"], strict=True):
            tile = self._tiles.get(nodes["id"][c], {})
            if bundle["ops"][nodes["op"][c]] == op and all(tile.get(k) == of[k] for k in of):
                return f"r={self._rewrite}&k=0&s={slot}&tab=node"
        raise AssertionError(f"no {op} of {of}")
