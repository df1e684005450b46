"""Programs that end with the lab, however that ends."""

import shutil


def ends_with_us() -> tuple[str, ...]:
    """Goes before a command, which then ends with the thread that started it; nothing without setpriv."""
    return ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()
