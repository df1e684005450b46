/*
 * Syscall user dispatch (Documentation/admin-guide/syscall-user-dispatch.rst): where `selector` says so, a system call
 * becomes the signal SIGSYS, but for those of the few instructions below. Threads and processes that are started do not
 * inherit it. It needs no right.
 */
#define _GNU_SOURCE
#include "dispatch.h"

#if defined(__x86_64__)
#include "sites.h"

#include "format.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { SET_DISPATCH = 59, DISPATCH_ON = 1, BY_DISPATCH = 2, CALL_BYTES = 2 };
enum { ALLOW = 0, BLOCK = 1 };
static const unsigned long restores = 0x04000000; /* SA_RESTORER: the kernel returns from the handler to our instructions */

static volatile char selector = ALLOW;
static bool is_open;

/* The end of a signal's handler has the form by which unwinders know it; nothing before it may belong to a function. */
__asm__(".pushsection .text\n"
        "dispatch_allowed:\n"
        "    nop\n"
        "dispatch_restore:\n"
        "    .byte 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05\n" /* mov $15, %rax; syscall */
        "    ud2\n"
        "dispatch_call:\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    mov %rdx, %rsi\n"
        "    mov %rcx, %rdx\n"
        "    mov %r8, %r10\n"
        "    mov %r9, %r8\n"
        "    mov 8(%rsp), %r9\n"
        "    syscall\n"
        "    ret\n"
        "dispatch_allowed_end:\n"
        ".popsection\n");
extern const char dispatch_allowed[];
extern const char dispatch_allowed_end[];
void dispatch_restore(void);
long dispatch_call(long number, long first, long second, long third, long fourth, long fifth, long sixth);

/* As the kernel has it, not the C library. */
struct kernel_action {
    void (*handler)(int signal, siginfo_t *info, void *context);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/* A system call, as the registers have it, and what came of it. */
struct call {
    long number;
    long arguments[6];
    long result;
};

static const uint64_t our_signal = 1ULL << (SIGSYS - 1);

static long make(const struct call *call)
{
    const long *const given = call->arguments;
    return dispatch_call(call->number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

/* What the handler's end puts back is what it was before it: so the new mask belongs there. */
static long make_mask(struct call call, ucontext_t *context)
{
    uint64_t set = 0;
    if (call.arguments[1] != 0 && call.arguments[0] != SIG_UNBLOCK) {
        memcpy(&set, pointer_at((uint64_t)call.arguments[1]), sizeof set);
        set &= ~our_signal;
        call.arguments[1] = (long)&set;
    }
    const long result = make(&call);
    uint64_t is = 0;
    if (dispatch_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&is, sizeof is, 0, 0) == 0) {
        memcpy(&context->uc_sigmask, &is, sizeof is);
    }
    return result;
}

static long make_action(struct call call)
{
    struct kernel_action action;
    if (call.arguments[0] == SIGSYS) {
        return 0;
    }
    if (call.arguments[1] != 0) {
        memcpy(&action, pointer_at((uint64_t)call.arguments[1]), sizeof action);
        action.mask &= ~our_signal;
        call.arguments[1] = (long)&action;
    }
    return make(&call);
}

static long make_stack(const struct call *call, ucontext_t *context)
{
    const long result = make(call);
    if (result == 0 && call->arguments[0] != 0) {
        memcpy(&context->uc_stack, pointer_at((uint64_t)call->arguments[0]), sizeof context->uc_stack);
    }
    return result;
}

static long make_in_its_place(const struct call *call, ucontext_t *context)
{
    switch (call->number) {
    case SYS_rt_sigprocmask:
        return make_mask(*call, context);
    case SYS_rt_sigaction:
        return make_action(*call);
    case SYS_sigaltstack:
        return make_stack(call, context);
    default:
        return make(call);
    }
}

static enum explained_kind kind_of(const struct call *call)
{
    const int operation = (int)call->arguments[1] & FUTEX_CMD_MASK;
    enum { LOCK_PI2 = 13 };
    if (call->number == SYS_futex && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
                                      operation == FUTEX_LOCK_PI || operation == LOCK_PI2)) {
        return EXPLAINED_LOCK;
    }
    return EXPLAINED_SYSTEM;
}

/* The file that it is about: by its path, or by its number. */
static void describe(const void *given, char *text, size_t bytes)
{
    enum { PATH_BYTES = 64 };
    const struct call *const call = given;
    char path[PATH_BYTES];
    switch (call->number) {
    case SYS_open:
    case SYS_openat:
        if (call->result != -EFAULT) {
            format_text(text, bytes, "%s", (const char *)pointer_at((uint64_t)call->arguments[call->number == SYS_openat]));
        }
        break;
    case SYS_read: case SYS_write: case SYS_readv: case SYS_writev: case SYS_pread64: case SYS_pwrite64: case SYS_fsync:
    case SYS_fdatasync: case SYS_sendto: case SYS_sendmsg: case SYS_recvfrom: case SYS_recvmsg: case SYS_ioctl:
        format_text(path, sizeof path, "/proc/self/fd/%ld", call->arguments[0]);
        const ssize_t got = readlink(path, text, bytes - 1);
        text[got > 0 ? got : 0] = '\0';
        break;
    default:
        break;
    }
}

static int64_t faults_so_far(void)
{
    struct rusage used = {0};
    (void)getrusage(RUSAGE_THREAD, &used);
    return used.ru_minflt + used.ru_majflt;
}

static void note(const struct chain *chain, enum explained_kind kind, const struct call *call, int64_t times, int64_t took_ns)
{
    const struct seen seen = {
        .kind = kind,
        .call = call->number,
        .times = times,
        .took_ns = took_ns,
        .describe = kind == EXPLAINED_FAULT ? NULL : describe,
        .given = call,
    };
    sites_note(chain, &seen);
}

static bool starts_thread(const struct call *call)
{
    uint64_t flags = (uint64_t)call->arguments[0];
    if (call->number == SYS_clone3) {
        memcpy(&flags, pointer_at((uint64_t)call->arguments[0]), sizeof flags);
    }
    return (call->number == SYS_clone3 || call->number == SYS_clone) && (flags & CLONE_THREAD) != 0;
}

/* True: the next one comes to us, too. What is born by a clone must not begin in a handler: so that call is made where it is
 * written, and so are all others of this step. (A thread's usual start does not come here: explainer.c.) */
static bool serve(struct call *call, ucontext_t *context, bool is_watched)
{
    greg_t *const registers = context->uc_mcontext.gregs;
    struct chain chain;
    if (call->number == SYS_rt_sigreturn) {
        registers[REG_RIP] = (greg_t)(uintptr_t)dispatch_restore;
        return true;
    }
    if (is_watched) {
        chain_of_callers(&chain);
    }
    if (call->number == SYS_clone || call->number == SYS_clone3 || call->number == SYS_fork || call->number == SYS_vfork) {
        if (is_watched) {
            note(&chain, starts_thread(call) ? EXPLAINED_THREAD : EXPLAINED_SYSTEM, call, 1, 0);
        }
        registers[REG_RIP] -= CALL_BYTES;
        return false;
    }
    const int64_t faults = is_watched ? faults_so_far() : 0;
    const int64_t begin_ns = os_now_ns();
    call->result = make_in_its_place(call, context);
    const int64_t took_ns = os_now_ns() - begin_ns;
    registers[REG_RAX] = call->result;
    if (is_watched) {
        const int64_t more = faults_so_far() - faults;
        note(&chain, kind_of(call), call, 1, took_ns);
        if (more > 0) {
            note(&chain, EXPLAINED_FAULT, call, more, 0);
        }
    }
    return true;
}

static void on_call(int signal, siginfo_t *info, void *given)
{
    const int error = errno;
    const bool is_watched = sites_watch;
    ucontext_t *const context = given;
    const greg_t *const registers = context->uc_mcontext.gregs;
    (void)signal;
    selector = ALLOW;
    sites_watch = false;
    if (info->si_code != BY_DISPATCH) {
        context->uc_mcontext.gregs[REG_RAX] = -ENOSYS; /* a filter of the model's own */
        sites_watch = is_watched;
        selector = is_watched ? BLOCK : ALLOW;
        return;
    }
    struct call call = {
        .number = info->si_syscall,
        .arguments = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX], registers[REG_R10], registers[REG_R8],
                      registers[REG_R9]},
    };
    const bool comes_again = serve(&call, context, is_watched);
    errno = error;
    sites_watch = is_watched;
    selector = comes_again ? BLOCK : ALLOW;
}

bool dispatch_open(const char **why)
{
    const struct kernel_action action = {
        .handler = on_call,
        .flags = restores | SA_SIGINFO | SA_NODEFER,
        .restorer = dispatch_restore,
    };
    if (syscall(SYS_rt_sigaction, SIGSYS, &action, NULL, sizeof action.mask) != 0 ||
        prctl(SET_DISPATCH, DISPATCH_ON, dispatch_allowed, (unsigned long)(dispatch_allowed_end - dispatch_allowed),
              &selector) != 0) {
        *why = "this kernel can't hand system calls back (syscall user dispatch, since Linux 5.11)";
        return false;
    }
    is_open = true;
    return true;
}

void dispatch_keep_signal(void)
{
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGSYS);
    if (is_open) {
        (void)pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    }
}

void dispatch_begin(void)
{
    selector = is_open ? BLOCK : ALLOW;
}

void dispatch_end(void)
{
    selector = ALLOW;
}

#else

bool dispatch_open(const char **why)
{
    *why = "system calls are seen on x86-64 alone";
    return false;
}

void dispatch_keep_signal(void)
{
}

void dispatch_begin(void)
{
}

void dispatch_end(void)
{
}

#endif
