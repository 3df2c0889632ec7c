"""Why a module has no values."""


class CannotError(Exception):
    """It cannot be executed here; the text says why."""


class InvalidError(Exception):
    """It contradicts itself, such as an op whose result is not of the type that it states."""


class NarrowError(Exception):
    """It looks at the bits of floats: only values of its own dtypes mean anything."""
