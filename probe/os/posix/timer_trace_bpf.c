/*
 * In C the programs would be:
 *
 *     at start:   if (event->softexpires == cell->expiry_ns) cell->timer = event->hrtimer;
 *     at expiry:  if (event->hrtimer == cell->timer) { cell->handler_ns = event->now; cell->timer = 0; }
 *
 * They are written out in the kernel's instructions (BPF instruction set, RFC 9669), because where a field of the
 * event lies is known only when the program runs.
 */
#include "timer_trace_bpf.h"

#include "os/linux/bpf.h"

#include <errno.h>
#include <unistd.h>

enum { RESULT = 0, EVENT = 1, SEEN = 2, WANTED = 3, CELL = 4 }; /* registers; the second holds the event at the start */

static struct bpf_instruction load(const struct trace_field *field, uint8_t to)
{
    return (struct bpf_instruction){
        .code = field->bytes == sizeof(uint64_t) ? LOAD_8 : LOAD_4, .to = to, .from = EVENT, .offset = (int16_t)field->offset};
}

int timer_bpf_create_map(void)
{
    return bpf_create_array(1, sizeof(struct timer_cell));
}

int timer_bpf_load_start(int map, const struct trace_event *start)
{
    const struct bpf_instruction program[] = {
        {.code = LOAD_CONSTANT_8, .to = CELL, .from = BPF_PSEUDO_MAP_VALUE, .immediate = map},
        {0},
        load(&start->time, SEEN),
        {.code = LOAD_8, .to = WANTED, .from = CELL, .offset = offsetof(struct timer_cell, expiry_ns)},
        {.code = SKIP_IF_UNEQUAL, .to = SEEN, .from = WANTED, .offset = 2},
        load(&start->timer, SEEN),
        {.code = STORE_8, .to = CELL, .from = SEEN, .offset = offsetof(struct timer_cell, timer)},
        {.code = SET, .to = RESULT, .immediate = 0}, /* 0: perf has nothing to do */
        {.code = END},
    };
    return bpf_load(BPF_TRACE_EVENT, 0, program, sizeof program / sizeof program[0]);
}

int timer_bpf_load_expire(int map, const struct trace_event *expire)
{
    const struct bpf_instruction program[] = {
        {.code = LOAD_CONSTANT_8, .to = CELL, .from = BPF_PSEUDO_MAP_VALUE, .immediate = map},
        {0},
        load(&expire->timer, SEEN),
        {.code = LOAD_8, .to = WANTED, .from = CELL, .offset = offsetof(struct timer_cell, timer)},
        {.code = SET, .to = RESULT, .immediate = 0},
        {.code = SKIP_IF_UNEQUAL, .to = SEEN, .from = WANTED, .offset = 3},
        load(&expire->time, SEEN),
        {.code = STORE_8, .to = CELL, .from = SEEN, .offset = offsetof(struct timer_cell, handler_ns)},
        {.code = STORE_8, .to = CELL, .from = RESULT, .offset = offsetof(struct timer_cell, timer)},
        {.code = END},
    };
    return bpf_load(BPF_TRACE_EVENT, 0, program, sizeof program / sizeof program[0]);
}

/* ---- Raw tracepoints ------------------------------------------------------ */

enum { STACK = 10, KEPT = 6, SLOT = -8, RAW_TIMER = 0, RAW_NOW = 8, SOFTEXPIRES = 32 };

/* SEEN = the eight bytes at the address in register 3. Register 0 is 0 then, and 1 to 5 are lost. */
#define READ_KERNEL                                                                                                   \
    {.code = COPY, .to = 1, .from = STACK}, {.code = ADD, .to = 1, .immediate = SLOT},                                \
        {.code = SET, .to = 2, .immediate = sizeof(uint64_t)}, {.code = CALL, .immediate = BPF_PROBE_READ_KERNEL},        \
        {.code = LOAD_8, .to = SEEN, .from = STACK, .offset = SLOT}

static int open_raw(const char *name, const struct bpf_instruction *program, size_t count)
{
    const int loaded = bpf_load(BPF_RAW_TRACEPOINT, 0, program, count);
    if (loaded < 0) {
        return -1;
    }
    const int opened = bpf_attach_raw(name, loaded);
    const int error = errno;
    close(loaded);
    errno = error;
    return opened;
}

int timer_bpf_open_raw_start(int map)
{
    const struct bpf_instruction program[] = {
        {.code = LOAD_8, .to = KEPT, .from = EVENT, .offset = RAW_TIMER},
        {.code = COPY, .to = 3, .from = KEPT},
        {.code = ADD, .to = 3, .immediate = SOFTEXPIRES},
        READ_KERNEL,
        {.code = SKIP_IF_OTHER, .to = RESULT, .offset = 5, .immediate = 0},
        {.code = LOAD_CONSTANT_8, .to = CELL, .from = BPF_PSEUDO_MAP_VALUE, .immediate = map},
        {0},
        {.code = LOAD_8, .to = WANTED, .from = CELL, .offset = offsetof(struct timer_cell, expiry_ns)},
        {.code = SKIP_IF_UNEQUAL, .to = SEEN, .from = WANTED, .offset = 1},
        {.code = STORE_8, .to = CELL, .from = KEPT, .offset = offsetof(struct timer_cell, timer)},
        {.code = SET, .to = RESULT, .immediate = 0},
        {.code = END},
    };
    return open_raw("hrtimer_start", program, sizeof program / sizeof program[0]);
}

int timer_bpf_open_raw_expire(int map)
{
    const struct bpf_instruction program[] = {
        {.code = LOAD_CONSTANT_8, .to = CELL, .from = BPF_PSEUDO_MAP_VALUE, .immediate = map},
        {0},
        {.code = LOAD_8, .to = SEEN, .from = EVENT, .offset = RAW_TIMER},
        {.code = LOAD_8, .to = WANTED, .from = CELL, .offset = offsetof(struct timer_cell, timer)},
        {.code = SKIP_IF_UNEQUAL, .to = SEEN, .from = WANTED, .offset = 10},
        {.code = COPY, .to = KEPT, .from = CELL},
        {.code = LOAD_8, .to = 3, .from = EVENT, .offset = RAW_NOW},
        READ_KERNEL,
        {.code = SKIP_IF_OTHER, .to = RESULT, .offset = 2, .immediate = 0},
        {.code = STORE_8, .to = KEPT, .from = SEEN, .offset = offsetof(struct timer_cell, handler_ns)},
        {.code = STORE_8, .to = KEPT, .from = RESULT, .offset = offsetof(struct timer_cell, timer)},
        {.code = SET, .to = RESULT, .immediate = 0},
        {.code = END},
    };
    return open_raw("hrtimer_expire_entry", program, sizeof program / sizeof program[0]);
}
