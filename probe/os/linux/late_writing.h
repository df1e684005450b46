/* Writing a program of the flight recorder, instruction after instruction. */
#ifndef TAUTO_LINUX_LATE_WRITING_H
#define TAUTO_LINUX_LATE_WRITING_H

#include "os/linux/late_program.h"

/* Registers: 6 to 9 stay over calls. */
enum { RESULT = 0, FIRST = 1, SECOND = 2, THIRD = 3, FOURTH = 4, EVENT = 6, RING = 7, PLACE = 8, KEPT = 9, STACK = 10 };
enum { KEY_AT = -4, NAME_AT = -24, EXITS_LIMIT = 4 }; /* on the stack */

struct writing {
    const struct late_plan *plan;
    uint32_t tracepoint;
    bool failed;
    struct bpf_instruction *code;
    size_t count;
    size_t exits[EXITS_LIMIT];
    size_t exit_count;
};

void late_put(struct writing *out, struct bpf_instruction instruction);
#define PUT(...) late_put(out, (struct bpf_instruction){__VA_ARGS__})

/* The end of the program where this holds. */
void late_put_exit_if(struct writing *out, enum bpf_code condition, uint8_t reg, int32_t immediate);
void late_put_constant(struct writing *out, uint8_t to, uint8_t what, int32_t constant);
void late_put_argument(struct writing *out, uint8_t to, uint32_t argument);
/* What was left open at `from` skips all that came since. */
void late_close_skip(struct writing *out, size_t from);

/* RING = the ring of the CPU, or the end where it has none. */
void late_put_ring(struct writing *out, const struct late_source *source);
/* PLACE = the next place in the ring, FIRST = its number. SECOND is lost. The time is in KEPT, and goes there. */
void late_put_place(struct writing *out);
void late_put_zero(struct writing *out, size_t offset);
void late_put_untold(struct writing *out, size_t offset);
/* The event is whole: its number is in `reg`. */
void late_put_kind(struct writing *out, uint8_t reg, int32_t kind);

/* FIRST = where the structure of this part lies; its field is in `field`. False: the kernel has none. */
bool late_put_structure(struct writing *out, const struct late_part *part, struct btf_field *field);
/* FIRST = that member, of four bytes or eight. */
bool late_put_member(struct writing *out, const struct late_part *part);

/* The end of the program where a thread of another program has the CPU. */
void late_put_own_threads_only(struct writing *out);
/* An event of its own where the hypervisor's count is not what it was when it was last looked at. */
void late_put_steal(struct writing *out);
/* Stacks, as events of their own; the first of a thread that waits for its CPU. */
void late_put_waiting(struct writing *out);
void late_put_stack_at_switch(struct writing *out);
void late_put_stack_at_timer(struct writing *out);

#endif
