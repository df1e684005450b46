#include "guest/programs.h"

#include "format.h"
#include "guest/order.h"

#include <inttypes.h>
#include <string.h>

enum { PIECE_BYTES = 64 * 1024, LONGEST_REFUSAL = 512 };
/* Who gives a program that does not read more than this has lost count. */
static const size_t most_input_bytes = 16UL * 1024 * 1024;
/* Programs write many small pieces one after the other: what comes within this time goes to the lab with one call, and
 * wakes us once. With more than this, or when a program has ended, nothing is waited for. */
static const int64_t gather_ns = 1000000;
static const size_t enough_bytes = 16UL * 1024;

static struct program *find(const struct programs *programs, uint32_t number)
{
    for (size_t i = 0; i < programs->count; i++) {
        if (programs->program[i].number == number) {
            return (struct program *)&programs->program[i];
        }
    }
    return NULL;
}

bool programs_start(struct programs *programs, struct box *box, const struct box_command *command)
{
    struct order order;
    if (box_room(box) < LONGEST_REFUSAL) {
        return fault("more programs are refused than one reply can tell.");
    }
    if (find(programs, command->program) != NULL) {
        return fault("program %" PRIu32 " runs already.", command->program);
    }
    if (!order_read(&order, box, command)) {
        return false;
    }
    struct os_child *child = NULL;
    const enum os_status status = os_child_start(&child, order.argv, order.environment);
    if (status == OS_OK) {
        programs->program[programs->count++] = (struct program){.number = command->program, .child = child};
    } else {
        char refusal[LONGEST_REFUSAL];
        const size_t length =
            format_text(refusal, sizeof refusal, "%s can't be started: %s", order.argv[0], os_status_text(status));
        box_add(box, BOX_REFUSED, command->program, refusal, length < sizeof refusal ? length : sizeof refusal - 1);
    }
    order_free(&order);
    return true;
}

/* ---- Its input ------------------------------------------------------------- */

/* Gives it what its pipe takes; the memory of what was taken is freed when all of it was. */
static void feed(struct programs *programs, struct program *program)
{
    const size_t waiting = program->input.length - program->input_taken;
    if (waiting > 0) {
        const size_t taken = os_child_write(program->child, program->input.data + program->input_taken, waiting);
        program->input_taken += taken;
        programs->input_bytes -= taken;
    }
    if (program->input_taken == program->input.length) {
        text_free(&program->input);
        program->input_taken = 0;
        if (program->input_ends) {
            os_child_close_input(program->child);
        }
    }
}

bool programs_write(struct programs *programs, const struct box *box, const struct box_command *command)
{
    struct program *const program = find(programs, command->program);
    if (program == NULL || program->input_ends) {
        return true;
    }
    if (programs->input_bytes + command->payload_bytes > most_input_bytes) {
        return fault("program %" PRIu32 " does not read its input; more than %zu bytes are waiting.", command->program,
                     most_input_bytes);
    }
    if (program->input_taken > 0) {
        const size_t waiting = program->input.length - program->input_taken;
        memmove(program->input.data, program->input.data + program->input_taken, waiting);
        text_cut(&program->input, waiting);
        program->input_taken = 0;
    }
    if (!box_payload(box, command, &program->input)) {
        return false;
    }
    programs->input_bytes += command->payload_bytes;
    feed(programs, program);
    return true;
}

void programs_close_input(struct programs *programs, const struct box_command *command)
{
    struct program *const program = find(programs, command->program);
    if (program != NULL) {
        program->input_ends = true;
        feed(programs, program);
    }
}

bool programs_signal(const struct programs *programs, const struct box *box, const struct box_command *command)
{
    uint32_t number = 0;
    const struct program *const program = find(programs, command->program);
    if (command->payload_bytes != sizeof number) {
        return fault("a signal without its number.");
    }
    os_mailbox_load(box->mailbox, command->payload_at, &number, sizeof number);
    if (program != NULL && os_child_signal(program->child, number) != OS_OK) {
        return fault("there is no signal %" PRIu32 ".", number);
    }
    return true;
}

/* ---- Its events ------------------------------------------------------------ */

/* Of one that runs, a piece, so that nobody waits for a talkative one; of one that has ended, all. */
static void take_output(const struct program *program, struct box *box, enum os_child_stream stream)
{
    static char piece[PIECE_BYTES];
    for (size_t room = box_room(box); room > 0; room = box_room(box)) {
        const size_t got = os_child_read(program->child, stream, piece, room < sizeof piece ? room : sizeof piece);
        if (got == 0) {
            return;
        }
        box_add(box, stream == OS_CHILD_OUTPUT ? BOX_OUTPUT : BOX_ERROR, program->number, piece, got);
    }
}

static bool take_end(const struct program *program, struct box *box)
{
    int32_t code = 0;
    if (!os_child_has_ended(program->child, &code) || box_room(box) < sizeof code) {
        return false;
    }
    box_add(box, BOX_EXIT, program->number, &code, sizeof code);
    return true;
}

static void forget(struct programs *programs, size_t place)
{
    struct program *const program = &programs->program[place];
    programs->input_bytes -= program->input.length - program->input_taken;
    text_free(&program->input);
    os_child_free(program->child);
    programs->count--;
    memmove(program, program + 1, (programs->count - place) * sizeof *program); /* in the order of their starts */
}

/* True: one of them has ended. */
static bool look_after_all(struct programs *programs, struct box *box)
{
    bool one_ended = false;
    for (size_t i = 0; i < programs->count;) {
        struct program *const program = &programs->program[i];
        feed(programs, program);
        take_output(program, box, OS_CHILD_OUTPUT);
        take_output(program, box, OS_CHILD_ERROR);
        if (take_end(program, box)) {
            forget(programs, i);
            one_ended = true;
        } else {
            i++;
        }
    }
    return one_ended;
}

void programs_run(struct programs *programs, struct box *box, int64_t most_ns)
{
    const int64_t now_ns = os_now_ns();
    const int64_t until_ns = most_ns < INT64_MAX - now_ns ? now_ns + most_ns : INT64_MAX;
    bool is_over = false;
    bool one_ended = look_after_all(programs, box); /* what found no room the last time */
    while (box->reply_bytes == 0 && !is_over) {
        os_children_wait(until_ns);
        is_over = os_now_ns() >= until_ns;
        one_ended = look_after_all(programs, box);
    }
    const int64_t gathered_ns = os_now_ns() + gather_ns;
    if (!one_ended && box->reply_bytes < enough_bytes && gathered_ns < until_ns) {
        os_children_gather(gathered_ns);
        (void)look_after_all(programs, box);
    }
}
