/* bpf(2) at the begin and end of system calls, and at uprobes (perf_event_open(2)). */
#define _GNU_SOURCE
#include "outside.h"

#include "call_names.h"
#include "outside_program.h"
#include "usdt.h"

#include "format.h"
#include "os/linux/bpf.h"
#include "os/linux/btf.h"
#include "os/posix/linux.h"
#include "os/posix/process_tree.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000, PATH_BYTES = 4352, NONE = -1 };

static struct os_answer why_not(int error)
{
    switch (error) {
    case EPERM:
    case EACCES:
        return (struct os_answer){
            OS_DENIED, "the kernel does not let this user watch it from outside. Run as root, or give the program tauto-step "
                       "the capabilities CAP_BPF and CAP_PERFMON (setcap cap_bpf,cap_perfmon+ep), for probes CAP_SYS_ADMIN as well. "
                       "Where root is refused, a container (seccomp) or a locked down kernel (/sys/kernel/security/lockdown) is in the way"};
    case ENOMEM:
    case E2BIG:
        return (struct os_answer){OS_ABSENT, "there is not enough memory for its rows in the kernel. Give --ring fewer"};
    case EMFILE:
        return (struct os_answer){OS_ABSENT, "its probes are at more than 32 places, or this process has too many files open"};
    default:
        return (struct os_answer){
            OS_ABSENT, "this kernel can't run programs at such places. It needs Linux 5.12 or later with "
                       "CONFIG_DEBUG_INFO_BTF, CONFIG_BPF_EVENTS and CONFIG_FTRACE_SYSCALLS (CONFIG_UPROBES for probes), on a "
                       "64-bit system"};
    }
}

static bool keep_link(struct outside *outside, int link)
{
    if (link < 0 || outside->link_count == OUTSIDE_LINKS_LIMIT) {
        outside->error = link < 0 ? errno : EMFILE;
        if (link >= 0) {
            close(link);
        }
        return false;
    }
    outside->links[outside->link_count++] = link;
    return true;
}

/* In a container a process has other numbers than the kernel's own. */
static struct outside_writing writing_of(const struct outside *outside)
{
    enum { MINOR_BITS = 20 }; /* as the kernel has devices inside */
    const ino_t space_of_machine = 0xeffffffcU;
    struct outside_writing out = {.wish = &outside->wish, .map = outside->map};
    struct stat space;
    if (stat("/proc/self/ns/pid", &space) == 0 && space.st_ino != space_of_machine) {
        out.space = space.st_ino;
        out.device = (uint64_t)major(space.st_dev) << MINOR_BITS | minor(space.st_dev);
    }
    return out;
}

/* ---- System calls ------------------------------------------------------------------ */

static bool attach_tracepoint(struct outside *outside, const struct btf *btf, const char *name, const struct outside_calls *calls)
{
    struct outside_writing out = writing_of(outside);
    const uint32_t tracepoint = btf_tracepoint(btf, name);
    if (tracepoint == 0) {
        outside->error = ENOENT;
        return false;
    }
    if (strcmp(name, "sys_enter") == 0) {
        outside_write_sleep(&out, calls);
    } else {
        outside_write_wake(&out, calls);
    }
    const int program = bpf_load(BPF_TYPED_TRACEPOINT, tracepoint, out.code, out.count);
    const int link = program >= 0 ? bpf_attach_raw(NULL, program) : NONE;
    const int error = errno;
    if (program >= 0) {
        close(program); /* the link holds it */
    }
    errno = error;
    return keep_link(outside, link);
}

/* Where the kernel has the arguments of a system call, and its number when it ends. */
static bool find_registers(const struct btf *btf, struct outside_calls *calls)
{
#if defined __x86_64__
    static const char *const names[] = {"di", "si", "dx", "orig_ax"};
    const uint32_t apart = 0;
#elif defined __aarch64__
    static const char *const names[] = {"regs", "regs", "regs", "syscallno"};
    const uint32_t apart = sizeof(uint64_t);
#else
    static const char *const names[] = {"orig_a0", "a1", "a2", "a7"};
    const uint32_t apart = 0;
#endif
    struct btf_field clock;
    struct btf_field flags;
    struct btf_field instant;
    struct btf_field number;
    const bool has_number = btf_member(btf, "pt_regs", names[3], &number);
    calls->number_at = has_number ? (int32_t)number.offset : NONE;
    calls->number_bytes = has_number ? number.bytes : 0;
    if (!btf_member(btf, "pt_regs", names[0], &clock) || !btf_member(btf, "pt_regs", names[1], &flags) ||
        !btf_member(btf, "pt_regs", names[2], &instant)) {
        return false;
    }
    calls->clock_at = (uint16_t)clock.offset;
    calls->flags_at = (uint16_t)(flags.offset + apart);
    calls->instant_at = (uint16_t)(instant.offset + 2 * apart);
    return true;
}

static int32_t number_of_call(const char *name)
{
    enum { CALLS = 1024 };
    for (int32_t number = 0; number < CALLS; number++) {
        const char *const own = call_name_of(number);
        if (own != NULL && strcmp(own, name) == 0) {
            return number;
        }
    }
    return NONE;
}

static struct os_answer attach_calls(struct outside *outside)
{
    struct outside_calls calls = {.numbers = {SYS_clock_nanosleep, SYS_nanosleep}, .count = 2, .absolute = SYS_clock_nanosleep};
    if (outside->wish.way == OUTSIDE_CALL) {
        calls = (struct outside_calls){.numbers = {number_of_call(outside->wish.call)}, .count = 1, .absolute = NONE};
        if (calls.numbers[0] < 0) {
            return (struct os_answer){OS_ABSENT, "there is no system call of that name. Write sleep, or one such as read or futex; "
                                               "`strace -c -f` lists those of a program"};
        }
    }
    struct btf *const btf = btf_open();
    if (btf == NULL) {
        return why_not(errno == EACCES ? EPERM : ENOENT);
    }
    bool is_attached = find_registers(btf, &calls) || calls.absolute < 0;
    outside->error = is_attached ? 0 : ENOENT;
    if (is_attached) {
        struct outside_calls ends = calls;
        ends.numbers[ends.count++] = SYS_restart_syscall;
        is_attached = attach_tracepoint(outside, btf, "sys_exit", &ends) && attach_tracepoint(outside, btf, "sys_enter", &calls);
    }
    btf_close(btf);
    return is_attached ? (struct os_answer){OS_PRESENT, ""} : why_not(outside->error);
}

/* ---- Probes of the program --------------------------------------------------------- */

struct found {
    struct outside *outside;
    const char *path;
    bool is_end;
};

/* In all processes that have this file; the program asks which one it is. */
static int open_uprobe(const char *path, const struct usdt_site *site, int program)
{
    enum { TEXT_BYTES = 32, SEMAPHORE_SHIFT = 32 };
    char text[TEXT_BYTES];
    struct perf_event_attr attributes = {.size = sizeof attributes};
    if (!linux_read_text("/sys/bus/event_source/devices/uprobe/type", text, sizeof text)) {
        errno = ENOENT;
        return NONE;
    }
    attributes.type = (uint32_t)linux_number(text, NULL);
    attributes.config = site->semaphore << SEMAPHORE_SHIFT;
    attributes.config1 = (uint64_t)(uintptr_t)path;
    attributes.config2 = site->offset;
    const int cpu = sched_getcpu(); /* any one that is online: the first may not be */
    const int event = (int)syscall(SYS_perf_event_open, &attributes, NONE, cpu, NONE, PERF_FLAG_FD_CLOEXEC);
    if (event < 0) {
        return NONE;
    }
    if (ioctl(event, PERF_EVENT_IOC_SET_BPF, program) != 0 || ioctl(event, PERF_EVENT_IOC_ENABLE, 0) != 0) {
        const int error = errno;
        close(event);
        errno = error;
        return NONE;
    }
    return event;
}

static void attach_probe(void *argument, const struct usdt_site *site)
{
    const struct found *const found = argument;
    struct outside *const outside = found->outside;
    struct outside_writing out = writing_of(outside);
    if (found->is_end) {
        outside_write_end(&out);
    } else {
        outside_write_begin(&out, site->arguments);
    }
    const int program = bpf_load(BPF_PROBE, 0, out.code, out.count);
    if (program < 0) {
        outside->error = errno;
        return;
    }
    const bool is_kept = keep_link(outside, open_uprobe(found->path, site, program));
    close(program); /* the event holds it */
    outside->begins += is_kept && !found->is_end;
    outside->ends += is_kept && found->is_end;
}

/* By its number and its device: the same file may have several names. */
static bool was_looked_through(struct outside *outside, const char *path)
{
    enum { DEVICE_SHIFT = 40 };
    struct stat told;
    if (stat(path, &told) != 0 || outside->file_count == OUTSIDE_FILES_LIMIT) {
        return true;
    }
    const uint64_t which = (uint64_t)told.st_ino ^ (uint64_t)told.st_dev << DEVICE_SHIFT;
    for (uint32_t i = 0; i < outside->file_count; i++) {
        if (outside->files[i] == which) {
            return true;
        }
    }
    outside->files[outside->file_count++] = which;
    return false;
}

/* What a process has of files that can be run: "55… r-xp 0000 08:01 1234   /usr/bin/controller". */
static void look_through(struct outside *outside, pid_t process)
{
    char line[PATH_BYTES];
    char path[2 * PATH_BYTES];
    format_text(line, sizeof line, "/proc/%d/maps", (int)process);
    FILE *const maps = fopen(line, "re");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *const name = strchr(line, '/');
        const char *const rights = strchr(line, ' ');
        if (name == NULL || rights == NULL || rights[3] != 'x') {
            continue;
        }
        name[strcspn(name, "\n")] = '\0';
        format_text(path, sizeof path, "/proc/%d/root%s", (int)process, name);
        if (!was_looked_through(outside, path)) {
            struct found found = {outside, path, true};
            usdt_sites(path, outside->wish.provider, outside->wish.end, attach_probe, &found);
            found.is_end = false;
            usdt_sites(path, outside->wish.provider, outside->wish.begin, attach_probe, &found);
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
}

/* ---- Begin and end ------------------------------------------------------------------ */

struct os_answer outside_open(struct outside *outside, const struct outside_wish *wish, void **memory)
{
    *outside = (struct outside){.wish = *wish, .map = NONE, .watched = NONE};
    if (sizeof(void *) != sizeof(uint64_t)) {
        return why_not(ENOENT);
    }
    const size_t page = getauxval(AT_PAGESZ);
    const size_t bytes = outside_memory_bytes(wish);
    outside->bytes = (bytes + page - 1) / page * page;
    outside->map = bytes <= UINT32_MAX ? bpf_create_array(1, (uint32_t)bytes) : (errno = E2BIG, NONE);
    if (outside->map < 0) {
        return why_not(errno == EINVAL ? E2BIG : errno);
    }
    void *const mapped = mmap(NULL, outside->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, outside->map, 0);
    if (mapped == MAP_FAILED) {
        const int error = errno;
        outside_close(outside);
        return why_not(error);
    }
    outside->mapped = mapped;
    *memory = (char *)mapped + OUTSIDE_TABLE_BYTES;
    if (wish->way != OUTSIDE_PROBES) {
        const struct os_answer answer = attach_calls(outside);
        if (answer.availability != OS_PRESENT) {
            outside_close(outside);
            return answer;
        }
    }
    return (struct os_answer){OS_PRESENT, ""};
}

void outside_follow(struct outside *outside, int64_t process)
{
    uint32_t *const table = outside->mapped;
    pid_t found[OUTSIDE_PROCESSES] = {(pid_t)process};
    __atomic_store_n(&table[0], (uint32_t)process, __ATOMIC_RELAXED); /* at once: looking for the others takes a while */
    const size_t count = 1 + process_tree_of((pid_t)process, found + 1, OUTSIDE_PROCESSES - 1);
    for (size_t i = 0; i < OUTSIDE_PROCESSES; i++) {
        __atomic_store_n(&table[i], i < count ? (uint32_t)found[i] : 0U, __ATOMIC_RELAXED);
        if (i < count && outside->wish.way == OUTSIDE_PROBES) {
            look_through(outside, found[i]);
        }
    }
}

struct os_answer outside_sees(const struct outside *outside)
{
    const bool has_probes = outside->wish.way == OUTSIDE_PROBES;
    if (has_probes && outside->error != 0) { /* steps that come by there only would be missing */
        return why_not(outside->error);
    }
    if (!has_probes || (outside->begins != 0 && outside->ends != 0)) {
        return (struct os_answer){OS_PRESENT, ""};
    }
    return (struct os_answer){OS_ABSENT, outside->begins == 0 ? "no file of it has the probe that begins a step"
                                                             : "no file of it has the probe that ends a step"};
}

void outside_name(uint64_t process, uint64_t thread, char name[OUTSIDE_NAME_BYTES])
{
    enum { FILE_BYTES = 64 };
    char path[FILE_BYTES];
    char text[OUTSIDE_NAME_BYTES + 1];
    format_text(path, sizeof path, "/proc/%d/task/%d/comm", (int)process, (int)thread);
    if (linux_read_text(path, text, sizeof text)) {
        text[strcspn(text, "\n")] = '\0';
        memcpy(name, text, OUTSIDE_NAME_BYTES);
        name[OUTSIDE_NAME_BYTES - 1] = '\0';
    }
}

bool outside_take(struct outside *outside, int64_t process, char name[OUTSIDE_NAME_BYTES])
{
    name[0] = '\0';
    outside->watched = (int)syscall(SYS_pidfd_open, (pid_t)process, 0U);
    outside_name((uint64_t)process, (uint64_t)process, name);
    return outside->watched >= 0 && name[0] != '\0';
}

bool outside_has_ended(const struct outside *outside, int64_t wait_ns)
{
    struct pollfd file = {.fd = outside->watched, .events = POLLIN};
    return poll(&file, 1, (int)(wait_ns / NS_PER_MS)) > 0;
}

void outside_stop(struct outside *outside)
{
    while (outside->link_count > 0) {
        close(outside->links[--outside->link_count]);
    }
}

void outside_close(struct outside *outside)
{
    outside_stop(outside);
    if (outside->mapped != NULL) {
        munmap(outside->mapped, outside->bytes);
        outside->mapped = NULL;
    }
    if (outside->map >= 0) {
        close(outside->map);
        outside->map = NONE;
    }
    if (outside->watched >= 0) {
        close(outside->watched);
        outside->watched = NONE;
    }
}
