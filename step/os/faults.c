/* perf_event_open(2): a sample for each page fault in user mode, in a ring. */
#define _GNU_SOURCE
#include "faults.h"

#include "sites.h"

#include "format.h"

#include <dlfcn.h>
#include <link.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_PAGES = 128, LEAST_PAGES = 16, STACK_BYTES = 8, NEAR_BYTES = 8 * 1024 * 1024 };

static struct perf_event_mmap_page *ring; /* NULL: none */
static const char *data;
static uint64_t data_bytes;
static int event = -1; /* counts those, too, for which the ring has no room */
static uint64_t event_id;

/* As the kernel writes it, with the fields that are asked for. */
struct sample {
    struct perf_event_header header;
    uint64_t instruction;
    uint64_t address;
    uint64_t stack_bytes;
    uint64_t caller; /* the first word of the stack */
};

bool faults_open(const char **why)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_PAGE_FAULTS;
    attributes.sample_period = 1;
    attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_STACK_USER;
    attributes.sample_stack_user = STACK_BYTES;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    event = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = MAP_FAILED;
    for (size_t pages = MOST_PAGES; event >= 0 && memory == MAP_FAILED && pages >= LEAST_PAGES; pages /= 2) {
        data_bytes = pages * page;
        memory = mmap(NULL, data_bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    }
    if (memory == MAP_FAILED || ioctl(event, PERF_EVENT_IOC_ID, &event_id) != 0) {
        *why = "events of page faults are not permitted to this user (kernel.perf_event_paranoid)";
        if (event >= 0) {
            close(event);
        }
        return false;
    }
    ring = memory;
    data = (const char *)memory + page;
    return true;
}

static uint64_t written(void)
{
    const uint64_t head = ring->data_head;
    atomic_thread_fence(memory_order_acquire);
    return head;
}

void faults_begin(void)
{
    if (ring != NULL) {
        (void)ioctl(event, PERF_EVENT_IOC_RESET, 0);
        ring->data_tail = written();
    }
}

/* All since the begin; 0: the model has closed the file, whose number may be another's by now. */
static uint64_t counted(void)
{
    uint64_t id = 0;
    uint64_t count = 0;
    const bool is_ours = ioctl(event, PERF_EVENT_IOC_ID, &id) == 0 && id == event_id;
    return is_ours && read(event, &count, sizeof count) == (ssize_t)sizeof count ? count : 0;
}

static void copy(void *to, uint64_t from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        ((char *)to)[i] = data[(from + i) % data_bytes];
    }
}

static void describe(const void *given, char *text, size_t bytes)
{
    const struct sample *const sample = given;
    const int64_t from_here = (int64_t)(sample->address - (uintptr_t)__builtin_frame_address(0));
    Dl_info info;
    if (from_here > -NEAR_BYTES && from_here < NEAR_BYTES) {
        format_text(text, bytes, "the stack");
    } else if (dladdr(pointer_at(sample->address), &info) != 0 && info.dli_fname != NULL) {
        const char *const slash = strrchr(info.dli_fname, '/');
        format_text(text, bytes, "%s", slash != NULL ? slash + 1 : info.dli_fname);
    }
}

struct code {
    uintptr_t address;
    const char *file; /* that has it; NULL: none, it is no code */
};

static int look_at(struct dl_phdr_info *file, size_t bytes, void *argument)
{
    struct code *const code = argument;
    (void)bytes;
    for (int i = 0; i < file->dlpi_phnum && code->file == NULL; i++) {
        const ElfW(Phdr) *const part = &file->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0 &&
            code->address - (file->dlpi_addr + part->p_vaddr) < part->p_memsz) {
            code->file = file->dlpi_name;
        }
    }
    return code->file != NULL;
}

/* For each fault: dladdr(3) looks at every name of a library. */
static const char *file_of_code(const void *address)
{
    struct code code = {.address = (uintptr_t)address};
    (void)dl_iterate_phdr(look_at, &code);
    return code.file;
}

static void note(const struct sample *sample)
{
    const struct seen seen = {
        .kind = EXPLAINED_FAULT,
        .call = SYSTEM_CALLS_NONE,
        .name = "access",
        .times = 1,
        .describe = describe,
        .given = sample,
    };
    struct chain chain;
    const char *const instruction = (const char *)pointer_at(sample->instruction) + 1; /* as return addresses are */
    const void *caller = pointer_at(sample->caller);
    /* A function that has put something on the stack has that in its place, such as the address of data. */
    const bool has_caller = sample->stack_bytes == STACK_BYTES && file_of_code(caller) != NULL;
    const char *const file = file_of_code(instruction - 1);
    if (file != NULL && strstr(file, "libgcc_s") != NULL) {
        return; /* it looks for our callers */
    }
    chain_of_instruction(&chain, instruction, has_caller ? caller : NULL);
    sites_note(&chain, &seen);
}

void faults_end(void)
{
    if (ring == NULL) {
        return;
    }
    const uint64_t head = written();
    uint64_t at = ring->data_tail;
    uint64_t told = 0;
    const uint64_t all = head - at > data_bytes - 2 * sizeof(struct sample) ? counted() : 0; /* it was full, or nearly */
    while (at < head) {
        struct sample sample = {0};
        copy(&sample.header, at, sizeof sample.header);
        if (sample.header.size < sizeof sample.header) {
            break;
        }
        if (sample.header.type == PERF_RECORD_SAMPLE) {
            copy(&sample, at, sample.header.size < sizeof sample ? sample.header.size : sizeof sample);
            note(&sample);
            told++;
        }
        at += sample.header.size;
    }
    if (all > told) {
        sites_lose((int64_t)(all - told));
    }
    atomic_thread_fence(memory_order_release);
    ring->data_tail = head;
}
