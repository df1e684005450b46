"""`tauto-agent claim`: one has it, the next waits without asking, a killed holder leaves nothing behind."""

import os
import signal
import socket
import subprocess
from pathlib import Path

from agents import agent
from tautochrone.target.local import find_agent


def test_who_waits_has_it_as_soon_as_the_holder_is_killed(tmp_path: Path) -> None:
    around = {"TAUTO_CLAIM": str(tmp_path)[-90:]}
    with agent("claim", environment=around) as holder:
        assert holder.output.readline() == b"claimed\n"
        with agent("claim", "--wait", "60s", environment=around) as waiting:
            taken = waiting.output.readline().split()
            assert taken == [b"taken", str(holder.process.pid).encode(), str(os.getuid()).encode()]
            waiting.say()  # a sign of life is no end
            holder.process.send_signal(signal.SIGKILL)
            assert waiting.output.readline() == b"claimed\n"


def test_who_waits_in_vain_says_so_and_its_input_ends_a_claim(tmp_path: Path) -> None:
    around = {"TAUTO_CLAIM": str(tmp_path)[-90:]}
    with agent("claim", environment=around) as holder:
        assert holder.output.readline() == b"claimed\n"
        with agent("claim", "--wait", "50ms", environment=around) as waiting:
            assert waiting.ended() == 1
            assert f"this machine is claimed by process {holder.process.pid} of" in waiting.messages
        holder.hang_up()
        assert holder.ended() == 0
        again = subprocess.run(
            [find_agent(), "claim"], env=os.environ | around, input=b"", capture_output=True, check=False
        )
        assert (again.returncode, again.stdout) == (0, b"claimed\n")


def test_a_name_that_nobody_answers_for_is_no_process(tmp_path: Path) -> None:
    """Any user may take an abstract name, and need not listen there."""
    around = {"TAUTO_CLAIM": str(tmp_path)[-90:]}
    with socket.socket(socket.AF_UNIX) as squatter:
        squatter.bind("\0" + around["TAUTO_CLAIM"])
        with agent("claim", "--wait", "50ms", environment=around) as waiting:
            assert waiting.ended() == 1
            assert "claimed by a process that does not say which one it is" in waiting.messages
        with agent("claim", "--wait", "60s", environment=around) as waiting:
            squatter.close()
            assert waiting.output.readline() == b"claimed\n"
