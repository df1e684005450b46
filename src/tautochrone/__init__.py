"""Tautochrone: does this machine keep a control loop's deadlines, and how sure is that?

For notebooks and scripts::

    import tautochrone as tc

    run = tc.open("latest")        # a run of the store
    run.quantile(0.999)            # 99.9 %, with its interval
    run.check("latency p99.9 < 100us")
    tc.compare("latest~1", "latest")

What is here is loaded when it is first used, so that the import itself costs nothing. See docs/python.md.
"""

TYPE_CHECKING = False  # as typing has it, without loading that
if TYPE_CHECKING:
    from tautochrone.base.errors import TautoError
    from tautochrone.notebook.functions import compare, open, plan_samples, runs, select  # noqa: A004
    from tautochrone.notebook.run import Run

__all__ = ["Run", "TautoError", "compare", "open", "plan_samples", "runs", "select"]

_PLACES = {
    "Run": "tautochrone.notebook.run",
    "TautoError": "tautochrone.base.errors",
    **dict.fromkeys(("compare", "open", "plan_samples", "runs", "select"), "tautochrone.notebook.functions"),
}


def __getattr__(name: str) -> object:
    """What is loaded when it is first used (PEP 562)."""
    if name not in _PLACES:
        raise AttributeError(f"module 'tautochrone' has no attribute '{name}'")
    from importlib import import_module

    found: object = getattr(import_module(_PLACES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The names there are, loaded or not."""
    return sorted({*globals(), *__all__})
