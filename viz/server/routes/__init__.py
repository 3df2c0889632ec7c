"""Routes of the API, a module for each subject, beside those of `viz/server/api.py`."""
