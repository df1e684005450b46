/* bpf(2) without its library: maps, programs in the kernel's own instructions (RFC 9669), and where they are attached. */
#ifndef TAUTO_LINUX_BPF_H
#define TAUTO_LINUX_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_instruction {
    uint8_t code;
    uint8_t to : 4;
    uint8_t from : 4;
    int16_t offset;
    int32_t immediate;
};
_Static_assert(sizeof(struct bpf_instruction) == 8, "an instruction has 64 bits");

enum bpf_code {
    LOAD_1 = 0x71, /* to = *(u8 *)(from + offset) */
    LOAD_2 = 0x69,
    LOAD_4 = 0x61,
    LOAD_8 = 0x79,
    STORE_4 = 0x63, /* *(u32 *)(to + offset) = from */
    STORE_8 = 0x7b,
    STORE_CONSTANT_8 = 0x7a, /* *(u64 *)(to + offset) = immediate */
    LOAD_CONSTANT_8 = 0x18,  /* takes two instructions; `from` says what the constant is */
    SET = 0xb7,              /* to = immediate */
    COPY = 0xbf,             /* to = from */
    ADD = 0x07,              /* to += immediate */
    MULTIPLY = 0x27,
    ADD_REGISTER = 0x0f,     /* to += from */
    SUBTRACT_REGISTER = 0x1f,
    AND = 0x57,
    OR = 0x47,
    SHIFT_LEFT = 0x67,
    SHIFT_RIGHT = 0x77,
    SHIFT_RIGHT_SIGNED = 0xc7,
    FETCH_AND_ADD_8 = 0xdb, /* with immediate 1: from = *(u64 *)(to + offset), which grows by `from`. Linux 5.12 */
    COMPARE_AND_SET_8 = 0xdb, /* with BPF_COMPARE_AND_SET: where *(u64 *)(to + offset) is register 0 it becomes `from`; what it
                                 was is in register 0. Linux 5.12 */
    CALL = 0x85,            /* the kernel's function `immediate`, of the registers 1 to 5; these are then lost */
    SKIP = 0x05,            /* `offset` instructions */
    SKIP_IF_EQUAL = 0x15,   /* to == immediate */
    SKIP_IF_OTHER = 0x55,   /* to != immediate */
    SKIP_IF_SAME = 0x1d,    /* to == from */
    SKIP_IF_UNEQUAL = 0x5d, /* to != from */
    SKIP_IF_OTHER_4 = 0x56, /* (u32)to != immediate */
    SKIP_IF_BELOW = 0xa5,    /* to < immediate, without signs */
    SKIP_IF_GREATER = 0x2d, /* to > from, without signs */
    SKIP_IF_LESS = 0xc5,     /* to < immediate, with signs */
    SKIP_IF_LESS_THAN = 0xcd, /* to < from, with signs */
    SKIP_IF_AT_LEAST = 0x75, /* to >= immediate, with signs */
    END = 0x95,
};

/* What the constant of LOAD_CONSTANT_8 is. */
enum { BPF_PSEUDO_MAP_FD = 1, BPF_PSEUDO_MAP_VALUE = 2, BPF_PSEUDO_BTF_ID = 3 };

/* Functions of the kernel. */
enum {
    BPF_MAP_LOOKUP = 1,
    BPF_KTIME_GET_NS = 5, /* CLOCK_MONOTONIC */
    BPF_PROCESSOR_ID = 8,
    BPF_CURRENT_THREAD = 14, /* in the lower half, its process in the upper one */
    BPF_CURRENT_NAME = 16,
    BPF_STACK_NUMBER = 27,
    BPF_PROBE_READ_USER = 112,
    BPF_PROBE_READ_KERNEL = 113,
    BPF_PROBE_READ_KERNEL_TEXT = 115,
    BPF_THREAD_IN_NAMESPACE = 120, /* device and number of a PID namespace, place for 4 bytes of thread and 4 of process. Linux 5.7 */
    BPF_THIS_CPU_POINTER = 154,
};

enum { BPF_COMPARE_AND_SET = 0xf1 };

enum bpf_program_type { BPF_PROBE = 2, BPF_TRACE_EVENT = 5, BPF_RAW_TRACEPOINT = 17, BPF_TYPED_TRACEPOINT = 26 };

/* A map of `entries` values that lie one after the other and can be mapped. Like the others, a file descriptor, or -1 with
 * errno set. */
int bpf_create_array(uint32_t entries, uint32_t value_bytes);
/* A map for stacks of at most `depth` addresses each. */
int bpf_create_stacks(uint32_t entries, uint32_t depth);
/* Copies what a map has for a key. False: nothing. */
bool bpf_look_up(int map, uint32_t key, void *value);
/* `typed`: the number of the tracepoint's type in the kernel's description of itself; 0 for the other types. */
int bpf_load(enum bpf_program_type type, uint32_t typed, const struct bpf_instruction *instructions, size_t count);
/* `name` is NULL for a typed one. */
int bpf_attach_raw(const char *name, int program);
/* What a raw tracepoint's program that takes no argument answers. -1 with errno set where it can't be run by itself. */
int bpf_try(int program, uint32_t *answer);
/* How often it was not run since it ran already on that CPU; 0 where the kernel does not say (before Linux 5.12). */
uint64_t bpf_skipped(int program);

#endif
