"""The command line: one file per verb."""

import sys


def main() -> None:
    """Run `tauto` with this process's arguments, and end the process, also by Ctrl-C while it is loaded."""
    try:
        from tautochrone.cli import app
    except KeyboardInterrupt:
        sys.stderr.write("tauto: stopped.\n")
        sys.exit(130)
    app.main()
