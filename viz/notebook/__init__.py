"""Runs and graphs in notebooks: frames that need no server, pictures, and the magic `%%viz`."""
