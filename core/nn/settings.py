"""What the numbers that optimizers and schedules are made with may be: one error, at the user's
line. Types are checked by annotations (`core/tensor/calls/arguments.py`)."""

from core.errors import DTypeError


def at_least_zero(owner: object, **settings: float) -> None:
    """Raises DTypeError for a setting below 0, or that is no number."""
    for name, value in settings.items():
        if not value >= 0:  # nor is NaN
            _refuse(owner, name, value, "0 or more")


def positive(owner: object, **settings: float) -> None:
    """Raises DTypeError for a setting below 1."""
    for name, value in settings.items():
        if not value >= 1:
            _refuse(owner, name, value, "1 or more")


def between(owner: object, least: float, most: float, **settings: float) -> None:
    """Raises DTypeError for a setting outside of `least` to `most`."""
    for name, value in settings.items():
        if not least <= value <= most:
            _refuse(owner, name, value, f"{least} to {most}")


def decays(owner: object, **settings: float) -> None:
    """Raises DTypeError for a factor of a running mean that is 1, or outside of 0 to 1."""
    for name, value in settings.items():
        if not 0 <= value < 1:
            _refuse(owner, name, value, "0 to 1, without 1")


def _refuse(owner: object, name: str, value: float, wanted: str) -> None:
    raise DTypeError(f"{type(owner).__name__}: {name} of {value}", hint=f"give {wanted}")
