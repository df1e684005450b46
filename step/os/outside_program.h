/* The kernel's programs of outside.c, written in its own instructions (RFC 9669): the memory's layout is known only here. */
#ifndef TAUTO_STEP_OUTSIDE_PROGRAM_H
#define TAUTO_STEP_OUTSIDE_PROGRAM_H

#include "outside.h"
#include "usdt.h"

#include "os/linux/bpf.h"

/* Before the memory of tautochrone_loop.h: the processes that are watched, 0 where a place is free. */
enum { OUTSIDE_TABLE_BYTES = OUTSIDE_PROCESSES * (int)sizeof(uint32_t) };

/* What a loop's words for itself are used for here. */
enum { OUTSIDE_RELEASE, OUTSIDE_BEGIN, OUTSIDE_ASKED };

enum { OUTSIDE_CALLS_LIMIT = 3 };
enum { OUTSIDE_CODE_LIMIT = 512, OUTSIDE_SKIPS_LIMIT = 32 };

struct outside_writing {
    const struct outside_wish *wish;
    int map;
    uint64_t space;  /* the PID namespace whose numbers count; 0: the machine's own */
    uint64_t device; /* that it is on */
    struct bpf_instruction code[OUTSIDE_CODE_LIMIT];
    size_t count;
    size_t exits[OUTSIDE_SKIPS_LIMIT];
    size_t exit_count;
};

size_t outside_memory_bytes(const struct outside_wish *wish);
/* System calls, and what of struct pt_regs they have. */
struct outside_calls {
    int32_t numbers[OUTSIDE_CALLS_LIMIT];
    uint32_t count;
    int32_t absolute; /* the one that may be asked for an instant, of clock_nanosleep(clock, flags, instant); -1: none */
    uint16_t clock_at;
    uint16_t flags_at;
    uint16_t instant_at;
    int32_t number_at; /* where a call that ends has its number; -1: nowhere */
    uint32_t number_bytes;
};

/* At the begin of each system call: one of these ends a step. */
void outside_write_sleep(struct outside_writing *out, const struct outside_calls *calls);
/* At the end of each: one of these, or one that the kernel goes on with after a signal, begins a step. */
void outside_write_wake(struct outside_writing *out, const struct outside_calls *calls);
/* The probes. */
void outside_write_begin(struct outside_writing *out, const struct usdt_argument arguments[USDT_ARGUMENTS]);
void outside_write_end(struct outside_writing *out);

#endif
