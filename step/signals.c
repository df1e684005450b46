/* What goes in and out of the code, as it says itself once it is initialised. */
#include "step.h"

#include "format.h"
#include "message.h"

#include <inttypes.h>
#include <string.h>

/* Which outputs are kept, and their names, for the parent. Two columns can't have the same one. */
static bool name_outputs(struct step_run *run)
{
    const struct tautochrone_signals *const signals = &run->signals;
    const uint32_t most = (uint32_t)run->options->outputs;
    run->outputs = signals->outputs < most ? signals->outputs : most;
    for (uint32_t i = 0; i < run->outputs; i++) {
        const size_t used = format_text(run->output_names[i], sizeof run->output_names[i], "out.");
        step_signal_name(run->output_names[i] + used, sizeof run->output_names[i] - used, signals->output_names, "out", i);
        for (uint32_t before = 0; before < i; before++) {
            if (strcmp(run->output_names[before], run->output_names[i]) == 0) {
                format_text(run->why, sizeof run->why, "%s: it has %s twice.\nGive each its own name, or keep "
                                                       "fewer: --outputs.",
                            run->name, run->output_names[i]);
                return false;
            }
        }
    }
    return true;
}

int step_signals_take(struct step_run *run, const struct step_code *code, uint32_t most_exchanged)
{
    struct tautochrone_signals *const signals = &run->signals;
    if (code->signals != NULL) {
        code->signals(code->context, signals);
    }
    if (signals->inputs > STEP_SIGNALS_LIMIT || signals->outputs > STEP_SIGNALS_LIMIT ||
        (signals->inputs != 0 && signals->in == NULL) || (signals->outputs != 0 && signals->out == NULL)) {
        format_text(run->why, sizeof run->why, "%s: its signals say %" PRIu32 " inputs and %" PRIu32 " outputs.\nAt most %d of "
                                               "each have a place, and each array must be there.",
                    run->name, signals->inputs, signals->outputs, STEP_SIGNALS_LIMIT);
        return EXIT_OF_CODE;
    }
    if (!name_outputs(run)) {
        return EXIT_OF_CODE;
    }
    if (!step_inputs_bind(&run->inputs, signals, run->why, sizeof run->why)) {
        return EXIT_USAGE;
    }
    if (run->exchange_at != 0 && (signals->inputs > most_exchanged || signals->outputs > most_exchanged)) {
        format_text(run->why, sizeof run->why, "--exchange %s: a message carries %" PRIu32 " values, and the code has %" PRIu32
                                               " inputs and %" PRIu32 " outputs.\nUse udp, or an interface of CAN FD.",
                    run->options->exchange.text, most_exchanged, signals->inputs, signals->outputs);
        return EXIT_USAGE;
    }
    return EXIT_MEASURED;
}
