"""One search over everything in a run: names, texts of sources, and nodes by their structure."""
