"""Every error that eigenwell raises on purpose: what was expected, what came, what to do.

`except eigenwell.EigenwellError` catches all of them; each is also the built-in exception that it is a kind of.
"""

__all__ = ["DataError", "EigenwellError", "MissingExtra", "ModelError"]


class EigenwellError(Exception):
    """The root of eigenwell's errors."""


class DataError(EigenwellError, ValueError):
    """Data or arguments cannot be used as they are; the message says what was expected, what came and what to do."""


class ModelError(DataError):
    """A saved model cannot be used; the message says what was expected, what came and what to do."""


class MissingExtra(EigenwellError, ImportError):
    """An optional package is needed; the message has the line that installs it."""


def missing_extra(what: str, package: str, extra: str) -> MissingExtra:
    """The error for `what`, which needs `package`, which the extra `extra` installs."""
    return MissingExtra(
        f'{what} needs {package}, which is not installed. Install it with: pip install "eigenwell[{extra}]"'
    )
