/* The table of what the agent can do. */
#include "agent.h"
#include "commands.h"
#include "guest/guest.h"
#include "load/load.h"
#include "message.h"
#include "os/rights.h"
#include "os/standard.h"

static const struct command commands[] = {
    {"load", "a background load, bounded and self-ending", load_main},
    {"guard", "runs a command as long as somebody speaks", guard_main},
    {"keep", "reads and changes settings, and puts them back", keep_main},
    {"claim", "claims the machine, so that one measures at a time", claim_main},
    {"guest", "the first program of a guest of the virtual lab", guest_main},
};

static const struct program agent = {
    .name = "tauto-agent",
    .about = "Works on the machine under test for 'tauto': loads, programs that end with a connection, settings that are\n"
             "put back. Time stamps are taken by tauto-probe.",
    .exit_codes = "0 done, 1 failed, 2 usage, 3 not permitted",
    .commands = commands,
    .count = sizeof commands / sizeof commands[0],
};

int main(int argc, char **argv)
{
    if (guest_is_first(argv[0])) {
        guest_be_first();
    }
    os_standard_numbers_take();
    speak_as(agent.name);
    if (os_rights_are_raised()) {
        return refuse(EXIT_NOT_PERMITTED,
                      "this file has rights of its own (setcap, set-user-ID), with which any user could change settings "
                      "and end programs of others.\nTake them away: sudo setcap -r %s; tauto-probe alone needs them.",
                      argv[0]);
    }
    return after_printing(program_run(&agent, argc, argv));
}
