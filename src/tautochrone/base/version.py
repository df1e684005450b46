"""Which version of the lab this is."""

from importlib.metadata import PackageNotFoundError, version


def own_version() -> str | None:
    """As it was installed; None: it runs from its sources alone."""
    try:
        return version("tautochrone")
    except PackageNotFoundError:
        return None
