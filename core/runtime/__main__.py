"""`python -m core.runtime`: what was looked for on this machine, found, and why not.

`--json` prints the same as a list of objects. Exits with 0 whatever is missing.
"""

from __future__ import annotations

import argparse
import json

from core.runtime.discover import Finding, findings


def main() -> None:
    """Prints one line for each thing, and one for what to do about a missing one."""
    parser = argparse.ArgumentParser(prog="python -m core.runtime", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args()
    found = findings()
    if asked.json:
        print(json.dumps([f.to_json() for f in found], indent=2))
    else:
        print("\n".join(line for f in found for line in _lines(f)))


def _lines(finding: Finding) -> list[str]:
    begin = f"{finding.device:<10} {finding.looked_for:<14} "
    if finding.found:
        return [begin + finding.found]
    hint = [" " * len(begin) + finding.hint] if finding.hint else []
    return [f"{begin}missing: {finding.why}", *hint]


if __name__ == "__main__":
    main()
