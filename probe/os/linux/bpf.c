#define _GNU_SOURCE /* syscall */
#include "os/linux/bpf.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/bpf.h, which not every C library brings along. Of union bpf_attr each call has the beginning that it needs;
 * the kernel takes the rest for 0. */
enum { MAP_CREATE = 0, MAP_LOOKUP = 1, PROG_LOAD = 5, PROG_TEST_RUN = 10, OBJ_GET_INFO_BY_FD = 15, RAW_TRACEPOINT_OPEN = 17 };
enum { MAP_TYPE_ARRAY = 2, MAP_TYPE_STACK_TRACE = 7, F_MMAPABLE = 1 << 10, TRACE_RAW_TP = 23 };

struct map_attributes {
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
    char name[16];
    uint32_t interface;
    uint32_t attach_type;
    uint32_t unused[9];
    uint32_t attach_type_id;
};
_Static_assert(offsetof(struct program_attributes, attach_type_id) == 108, "attach_btf_id");

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

static int create_map(uint32_t type, uint32_t entries, uint32_t value_bytes, uint32_t flags)
{
    const struct map_attributes attributes = {
        .map_type = type,
        .key_size = sizeof(uint32_t),
        .value_size = value_bytes,
        .max_entries = entries,
        .map_flags = flags,
    };
    return call(MAP_CREATE, &attributes, sizeof attributes);
}

int bpf_create_array(uint32_t entries, uint32_t value_bytes)
{
    return create_map(MAP_TYPE_ARRAY, entries, value_bytes, F_MMAPABLE);
}

int bpf_create_stacks(uint32_t entries, uint32_t depth)
{
    return create_map(MAP_TYPE_STACK_TRACE, entries, depth * (uint32_t)sizeof(uint64_t), 0);
}

bool bpf_look_up(int map, uint32_t key, void *value)
{
    const struct {
        uint32_t map;
        uint32_t unused;
        uint64_t key;
        uint64_t value;
    } attributes = {.map = (uint32_t)map, .key = (uint64_t)(uintptr_t)&key, .value = (uint64_t)(uintptr_t)value};
    return call(MAP_LOOKUP, &attributes, sizeof attributes) == 0;
}

int bpf_load(enum bpf_program_type type, uint32_t typed, const struct bpf_instruction *instructions, size_t count)
{
    const struct program_attributes attributes = {
        .program_type = (uint32_t)type,
        .instruction_count = (uint32_t)count,
        .instructions = (uint64_t)(uintptr_t)instructions,
        .license = (uint64_t)(uintptr_t) "Dual MIT/GPL", /* most call a function of the kernel's */
        .attach_type = typed != 0 ? TRACE_RAW_TP : 0,
        .attach_type_id = typed,
    };
    return call(PROG_LOAD, &attributes, sizeof attributes);
}

int bpf_attach_raw(const char *name, int program)
{
    const struct {
        uint64_t name;
        uint32_t program;
        uint32_t unused;
    } attributes = {.name = (uint64_t)(uintptr_t)name, .program = (uint32_t)program};
    return call(RAW_TRACEPOINT_OPEN, &attributes, sizeof attributes);
}

int bpf_try(int program, uint32_t *answer)
{
    struct {
        uint32_t program;
        uint32_t answer;
        uint64_t unused[8];
    } attributes = {.program = (uint32_t)program};
    const int result = call(PROG_TEST_RUN, &attributes, sizeof attributes);
    *answer = attributes.answer;
    return result;
}

uint64_t bpf_skipped(int program)
{
    struct {
        uint64_t unused[26];
        uint64_t skipped;
    } info = {0};
    const struct {
        uint32_t descriptor;
        uint32_t bytes;
        uint64_t info;
    } attributes = {.descriptor = (uint32_t)program, .bytes = sizeof info, .info = (uint64_t)(uintptr_t)&info};
    return call(OBJ_GET_INFO_BY_FD, &attributes, sizeof attributes) == 0 ? info.skipped : 0;
}
