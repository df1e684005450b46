#include "guest/serve.h"

#include "guest/programs.h"

enum outcome { NEXT, OVER, BROKEN };

static enum outcome run(struct programs *programs, struct box *box, const struct box_command *command)
{
    uint64_t most_ns = 0;
    if (command->payload_bytes != sizeof most_ns || !box_is_at_end(box)) {
        (void)fault("'run' has a time, and is the last command of a request.");
        return BROKEN;
    }
    os_mailbox_load(box->mailbox, command->payload_at, &most_ns, sizeof most_ns);
    programs_run(programs, box, most_ns < INT64_MAX ? (int64_t)most_ns : INT64_MAX);
    return NEXT;
}

static enum outcome obey(struct programs *programs, struct box *box, const struct box_command *command)
{
    bool is_sound = true;
    switch (command->operation) {
    case BOX_START:
        is_sound = programs_start(programs, box, command);
        break;
    case BOX_WRITE:
        is_sound = programs_write(programs, box, command);
        break;
    case BOX_CLOSE:
        programs_close_input(programs, command);
        break;
    case BOX_SIGNAL:
        is_sound = programs_signal(programs, box, command);
        break;
    case BOX_RUN:
        return run(programs, box, command);
    case BOX_OFF:
        return OVER;
    }
    return is_sound ? NEXT : BROKEN;
}

bool serve(struct box *box)
{
    static struct programs programs;
    for (;;) {
        struct box_command command;
        bool broken = false;
        if (!box_call(box)) {
            return false;
        }
        while (box_next(box, &command, &broken)) {
            const enum outcome outcome = obey(&programs, box, &command);
            if (outcome != NEXT) {
                return outcome == OVER;
            }
        }
        if (broken) {
            return false;
        }
    }
}
