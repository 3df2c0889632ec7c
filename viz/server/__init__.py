"""The explorer's server: a Flask app over a Store, for this machine and this user only."""
