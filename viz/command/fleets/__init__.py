"""Commands over folders of many runs."""
