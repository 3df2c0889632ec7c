"""Values to compare terms on, and how far results in floats may be apart."""
