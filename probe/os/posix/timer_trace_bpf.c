/*
 * In C the programs would be:
 *
 *     at start:   if (event->softexpires == cell->expiry_ns) cell->timer = event->hrtimer;
 *     at expiry:  if (event->hrtimer == cell->timer) { cell->handler_ns = event->now; cell->timer = 0; }
 *
 * They are written out in the kernel's instructions (BPF instruction set, RFC 9669), because where a field of the
 * event lies is known only when the program runs.
 */
#define _GNU_SOURCE /* syscall */
#include "timer_trace_bpf.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/bpf.h, which not every C library brings along. */
enum { BPF_MAP_CREATE = 0, BPF_PROG_LOAD = 5, BPF_RAW_TRACEPOINT_OPEN = 17 };
enum { BPF_MAP_TYPE_ARRAY = 2, BPF_F_MMAPABLE = 1 << 10, BPF_PROG_TYPE_TRACEPOINT = 5, BPF_PROG_TYPE_RAW_TRACEPOINT = 17,
       BPF_PSEUDO_MAP_VALUE = 2, PROBE_READ_KERNEL = 113 };

struct map_attributes { /* the beginning of union bpf_attr; the kernel takes the rest for 0 */
    uint32_t map_type;
    uint32_t key_size;
    uint32_t value_size;
    uint32_t max_entries;
    uint32_t map_flags;
};

struct program_attributes {
    uint32_t program_type;
    uint32_t instruction_count;
    uint64_t instructions;
    uint64_t license;
    uint32_t log_level;
    uint32_t log_size;
    uint64_t log_buffer;
    uint32_t kernel_version;
    uint32_t flags;
};

struct instruction {
    uint8_t code;
    uint8_t to : 4;
    uint8_t from : 4;
    int16_t offset;
    int32_t immediate;
};
_Static_assert(sizeof(struct instruction) == 8, "an instruction has 64 bits");

enum code {
    LOAD_4 = 0x61,          /* to = *(u32 *)(from + offset) */
    LOAD_8 = 0x79,          /* to = *(u64 *)(from + offset) */
    STORE_8 = 0x7b,         /* *(u64 *)(to + offset) = from */
    LOAD_CONSTANT_8 = 0x18, /* takes two instructions */
    SET = 0xb7,             /* to = immediate */
    COPY = 0xbf,            /* to = from */
    ADD = 0x07,             /* to += immediate */
    CALL = 0x85,            /* the kernel's function `immediate`, of the registers 1 to 3; these are then lost */
    SKIP_IF_OTHER = 0x55,   /* to != immediate: `offset` instructions */
    SKIP_IF_UNEQUAL = 0x5d, /* to != from: `offset` instructions */
    END = 0x95,
};
enum { RESULT = 0, EVENT = 1, SEEN = 2, WANTED = 3, CELL = 4 }; /* registers; the second holds the event at the start */

static struct instruction load(const struct trace_field *field, uint8_t to)
{
    return (struct instruction){
        .code = field->bytes == sizeof(uint64_t) ? LOAD_8 : LOAD_4, .to = to, .from = EVENT, .offset = (int16_t)field->offset};
}

/* Before Linux 5.11 maps and programs of all of a user's processes count as locked memory, also root's. Whether it may
 * be raised is the system's to say. */
static bool raise_lock_limit(void)
{
    const struct rlimit none = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    struct rlimit now;
    return getrlimit(RLIMIT_MEMLOCK, &now) == 0 && now.rlim_cur != RLIM_INFINITY &&
           setrlimit(RLIMIT_MEMLOCK, &none) == 0;
}

/* EAGAIN: a signal came while the kernel looked the program over. */
static int call(int command, const void *attributes, size_t bytes)
{
    int result;
    int tries = 5;
    do {
        result = (int)syscall(SYS_bpf, command, attributes, bytes);
    } while (result < 0 && ((errno == EAGAIN && --tries > 0) || (errno == EPERM && raise_lock_limit())));
    return result;
}

static int load_program(uint32_t type, const struct instruction *instructions, size_t count)
{
    const struct program_attributes attributes = {
        .program_type = type,
        .instruction_count = (uint32_t)count,
        .instructions = (uint64_t)(uintptr_t)instructions,
        .license = (uint64_t)(uintptr_t) "Dual MIT/GPL", /* raw ones call a function of the kernel's */
    };
    return call(BPF_PROG_LOAD, &attributes, sizeof attributes);
}

int timer_bpf_create_map(void)
{
    const struct map_attributes attributes = {
        .map_type = BPF_MAP_TYPE_ARRAY,
        .key_size = sizeof(uint32_t),
        .value_size = sizeof(struct timer_cell),
        .max_entries = 1,
        .map_flags = BPF_F_MMAPABLE,
    };
    return call(BPF_MAP_CREATE, &attributes, sizeof attributes);
}

int timer_bpf_load_start(int map, const struct trace_event *start)
{
    const struct instruction program[] = {
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
    return load_program(BPF_PROG_TYPE_TRACEPOINT, program, sizeof program / sizeof program[0]);
}

int timer_bpf_load_expire(int map, const struct trace_event *expire)
{
    const struct instruction program[] = {
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
    return load_program(BPF_PROG_TYPE_TRACEPOINT, program, sizeof program / sizeof program[0]);
}

/* ---- Raw tracepoints ------------------------------------------------------ */

enum { STACK = 10, KEPT = 6, SLOT = -8, RAW_TIMER = 0, RAW_NOW = 8, SOFTEXPIRES = 32 };

/* SEEN = the eight bytes at the address in register 3. Register 0 is 0 then, and 1 to 5 are lost. */
#define READ_KERNEL                                                                                                   \
    {.code = COPY, .to = 1, .from = STACK}, {.code = ADD, .to = 1, .immediate = SLOT},                                \
        {.code = SET, .to = 2, .immediate = sizeof(uint64_t)}, {.code = CALL, .immediate = PROBE_READ_KERNEL},        \
        {.code = LOAD_8, .to = SEEN, .from = STACK, .offset = SLOT}

static int open_raw(const char *name, const struct instruction *program, size_t count)
{
    const int loaded = load_program(BPF_PROG_TYPE_RAW_TRACEPOINT, program, count);
    if (loaded < 0) {
        return -1;
    }
    const struct {
        uint64_t name;
        uint32_t program;
        uint32_t unused;
    } attributes = {.name = (uint64_t)(uintptr_t)name, .program = (uint32_t)loaded};
    const int opened = call(BPF_RAW_TRACEPOINT_OPEN, &attributes, sizeof attributes);
    const int error = errno;
    close(loaded);
    errno = error;
    return opened;
}

int timer_bpf_open_raw_start(int map)
{
    const struct instruction program[] = {
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
    const struct instruction program[] = {
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
