"""The explorer's server: a Flask app over a Store, for this machine and this user only."""

from viz.server.app import create_app as create_app
from viz.server.serve import Server as Server
