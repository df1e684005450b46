#include "agent.h"

#include "message.h"
#include "options.h"
#include "os/claim.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { LOOK_AGAIN_MS = 500, NS_PER_MS = 1000000 };

static int64_t earlier(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

static int hold(struct os_claim *claim)
{
    for (bool waits = print("claimed\n"); waits; waits = os_claim_wait(claim, INT64_MAX)) {
    }
    os_claim_release(claim);
    return EXIT_MEASURED;
}

static int refuse_taken(const struct os_claim *claim, bool known)
{
    if (!known) {
        return refuse(EXIT_FAILED, "this machine is claimed by a process that does not say which one it is.\n"
                                   "`ss -xlp` lists whoever has the abstract socket of that name (TAUTO_CLAIM names another).");
    }
    return refuse(EXIT_FAILED, "this machine is claimed by process %ld of user %ld.", claim->holder_pid, claim->holder_uid);
}

/* Whoever waits is told once of each that has the claim meanwhile. */
static int claim_until_end(const char *name, int64_t wait_ns)
{
    const int64_t until_ns = wait_ns > 0 ? os_now_ns() + wait_ns : INT64_MAX;
    long told = -1;
    for (;;) {
        struct os_claim claim;
        const enum os_status status = os_claim_take(&claim, name);
        if (status == OS_OK) {
            return hold(&claim);
        }
        if (status != OS_IN_USE) {
            return refuse(EXIT_FAILED, "this machine can't be claimed: %s.", os_status_text(status));
        }
        const bool known = claim.file >= 0;
        if (known && claim.holder_pid != told) {
            told = claim.holder_pid;
            (void)print("taken %ld %ld\n", claim.holder_pid, claim.holder_uid);
        }
        const int64_t look_ns = known ? INT64_MAX : os_now_ns() + (int64_t)LOOK_AGAIN_MS * NS_PER_MS;
        const bool waits = os_claim_wait(&claim, earlier(look_ns, until_ns));
        os_claim_release(&claim);
        if (!waits) {
            return EXIT_MEASURED;
        }
        if (os_now_ns() >= until_ns) {
            return refuse_taken(&claim, known);
        }
    }
}

int claim_main(int argc, char **argv)
{
    int64_t wait_ns = 0;
    const struct option table[] = {
        {"wait", OPTION_DURATION, &wait_ns, NULL, "longest wait for whoever has it [as long as it takes]", false},
    };
    static const char usage[] =
        "usage: tauto-agent claim [--wait TIME]\n\n"
        "Claims this machine, which one such process at a time can, until standard input ends. Says \"taken PID UID\" of\n"
        "whoever has it, and \"claimed\" when it has it itself. TAUTO_CLAIM names the claim where several machines under\n"
        "test share the network namespace of one.\n\n";
    int code = EXIT_USAGE;
    if (!options_read_or_help(table, sizeof table / sizeof table[0], argc, argv, usage, &code)) {
        return code;
    }
    if (os_stop_listen() != OS_OK) {
        return refuse(EXIT_FAILED, "signals can't be listened to.");
    }
    const char *const given = getenv("TAUTO_CLAIM");
    return claim_until_end(given != NULL && given[0] != '\0' ? given : "tautochrone", wait_ns);
}
