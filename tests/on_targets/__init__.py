"""Every kernel of the demo, the benchmark programs and conformance, on every GPU target: `python -m
tests.on_targets`."""
