/* tauto-step: a user's own code in the loop, or a program of the user's. `tauto-probe step` and `watch` start it. */
#include "peer.h"
#include "step.h"
#include "watch.h"

#include "message.h"
#include "os/rights.h"

#include <string.h>

static int run_named(int argc, char **argv)
{
    const char *const word = argc > 1 ? argv[1] : "--help";
    if (strcmp(word, "step") == 0) {
        return experiment_step(argc - 2, argv + 2);
    }
    if (strcmp(word, "watch") == 0) {
        return experiment_watch(argc - 2, argv + 2);
    }
    if (strcmp(word, "peer") == 0) {
        return run_peer(argc - 2, argv + 2);
    }
    if (strcmp(word, "--version") == 0) {
        print("tauto-step %s\n", TAUTO_VERSION);
        return EXIT_MEASURED;
    }
    print("usage: tauto-step step|watch|peer [options]\n\nstep: your own code in a periodic loop; watch: a program of yours; "
          "`tauto-probe` starts both.\npeer: the other side of the --exchange of a step.\n");
    return argc > 1 && strcmp(word, "--help") == 0 ? EXIT_MEASURED : EXIT_USAGE;
}

int main(int argc, char **argv)
{
    const enum os_status status = os_rights_are_of_another() ? os_rights_give_back() : OS_OK;
    return status == OS_OK ? after_printing(run_named(argc, argv))
                           : refuse(EXIT_NOT_PERMITTED, "this file's rights (set-user-ID) can't be given back: %s.",
                                    os_status_text(status));
}
