"""Streams: what other compilers tell of their work, as lines of JSON, made into traces."""
