#define _GNU_SOURCE
#include "process_warden.h"

#include "linux.h"
#include "process_tree.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIGNAL_EXIT_CODE = 128, NS_PER_MS = 1000000, LOOK_AGAIN_MS = 10, SHELL_NOT_FOUND = 127 };
/* What can't be killed (a program of another user, one that waits for a dead disk) is left to the system. */
static const int64_t kill_patience_ns = 3000000000;

struct watch {
    const struct warden *warden;
    pid_t program;
    bool has_ended; /* and was waited for: its number may belong to another by now */
};

static void on_child(int signal)
{
    (void)signal; /* its only work is to end a sleep */
}

static _Noreturn void fail(const struct warden *warden, int error, size_t failed_join)
{
    const struct warden_trouble trouble = {.error = error, .failed_join = failed_join};
    (void)os_output_write((struct os_output){warden->trouble}, &trouble, sizeof trouble);
    _exit(SHELL_NOT_FOUND);
}

/* ---- In the program's process, before it becomes the program -------------- */

static bool put_in_place(int file, int standard)
{
    if (file == standard) {
        return fcntl(file, F_SETFD, 0) == 0; /* stays open in the program */
    }
    return dup2(file, standard) == standard && close(file) == 0;
}

static bool direct(int standard, int flags)
{
    const int nothing = open("/dev/null", flags);
    return nothing >= 0 && put_in_place(nothing, standard);
}

static bool set_files(const struct warden *warden)
{
    const bool has_input =
        warden->input >= 0 ? put_in_place(warden->input, STDIN_FILENO) : direct(STDIN_FILENO, O_RDONLY);
    const intptr_t errors = warden->attributes->errors;
    return has_input && (!warden->attributes->quiet || direct(STDOUT_FILENO, O_WRONLY)) &&
           (errors == 0 || put_in_place((int)errors, STDERR_FILENO));
}

static bool join(const char *path)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    const bool joined = write(file, "0", 1) == 1;
    const int error = errno;
    close(file);
    errno = error;
    return joined;
}

static void set_signals(void)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    /* Ignored here (os_stop_listen), while the writes of a program should end it. */
    (void)sigaction(SIGPIPE, &usual, NULL);
    (void)sigaction(SIGXFSZ, &usual, NULL);
    (void)sigaction(SIGCHLD, &usual, NULL);
    sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void become_program(const struct warden *warden, pid_t parent)
{
    const struct os_process_attributes *const wanted = warden->attributes;
    /* The kernel's own help, should the warden be killed. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent || setpgid(0, 0) != 0) {
        fail(warden, ECHILD, wanted->join_count);
    }
    for (size_t i = 0; i < wanted->join_count; i++) {
        if (!join(wanted->joins[i])) {
            fail(warden, errno, i);
        }
    }
    if (wanted->cpu != OS_CPU_ANY && linux_thread_set_cpu(wanted->cpu) != OS_OK) {
        fail(warden, EINVAL, wanted->join_count);
    }
    if (!set_files(warden)) {
        fail(warden, errno, wanted->join_count);
    }
    set_signals();
    execvp(wanted->argv[0], wanted->argv);
    fail(warden, errno, wanted->join_count);
}

/* ---- In the warden's --------------------------------------------------------- */

static void close_above_standard_but(const struct warden *warden)
{
    struct rlimit limit;
    const int end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int file = STDERR_FILENO + 1; file < end; file++) {
        if (file != warden->control && file != warden->status && file != warden->trouble && file != warden->input &&
            file != warden->attributes->errors) {
            close(file);
        }
    }
}

/* True while there are children. */
static bool reap(struct watch *watch)
{
    for (;;) {
        int status = 0;
        const pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended == 0 || (ended < 0 && errno == EINTR)) {
            return true;
        }
        if (ended < 0) {
            return false;
        }
        if (ended == watch->program && !watch->has_ended) {
            watch->has_ended = true;
            const int code = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_EXIT_CODE + WTERMSIG(status);
            (void)os_output_write((struct os_output){watch->warden->status}, &code, sizeof code);
        }
    }
}

/* SIGCHLD is let in only while it sleeps. */
static void sleep_until_something(struct pollfd *control, nfds_t count, const struct timespec *longest)
{
    sigset_t all_but_child;
    sigfillset(&all_but_child);
    sigdelset(&all_but_child, SIGCHLD);
    control->revents = 0;
    (void)ppoll(control, count, longest, &all_but_child);
}

/* The group of a program that has ended and was waited for may be another's by now. */
static void signal_group(const struct watch *watch, int signal)
{
    if (!watch->has_ended) {
        (void)kill(-watch->program, signal);
    }
}

static void end_all(const struct watch *watch)
{
    signal_group(watch, SIGTERM);
    process_tree_signal(SIGTERM, watch->has_ended ? 0 : watch->program);
    signal_group(watch, SIGCONT); /* one that was stopped must be able to heed it */
}

/* Round after round: what a killed one has started becomes ours. */
static void kill_all(struct watch *watch)
{
    static const struct timespec look_again = {.tv_nsec = (long)LOOK_AGAIN_MS * NS_PER_MS};
    struct pollfd none = {.fd = -1};
    const int64_t give_up_ns = os_now_ns() + kill_patience_ns;
    while (reap(watch) && os_now_ns() < give_up_ns) {
        signal_group(watch, SIGKILL);
        process_tree_kill_children();
        sleep_until_something(&none, 1, &look_again);
    }
}

static _Noreturn void keep_watch(struct watch *watch)
{
    struct pollfd control = {.fd = watch->warden->control, .events = POLLIN};
    for (;;) {
        (void)reap(watch);
        sleep_until_something(&control, 1, NULL);
        if (control.revents == 0) {
            continue;
        }
        char order = 0;
        const ssize_t got = read(watch->warden->control, &order, 1);
        if (got == 1 && order == WARDEN_END) {
            end_all(watch);
        } else {
            kill_all(watch);
            if (got == 0) {
                _exit(0);
            }
        }
    }
}

void warden_run(const struct warden *warden)
{
    const struct sigaction wake = {.sa_handler = on_child};
    const pid_t self = getpid();
    close_above_standard_but(warden);
    linux_thread_set_name("tauto-warden");
    /* Its own session: what is meant for the starter's terminal does not reach it. An emulator (qemu-user) may not know
     * subreapers: there, what a program leaves behind when it ends is its group only. */
    if (setsid() < 0 || sigaction(SIGCHLD, &wake, NULL) != 0 ||
        (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 && errno != EINVAL)) {
        fail(warden, errno, warden->attributes->join_count);
    }
    struct watch watch = {.warden = warden, .program = fork()};
    if (watch.program < 0) {
        fail(warden, errno, warden->attributes->join_count);
    }
    if (watch.program == 0) {
        become_program(warden, self);
    }
    close(warden->trouble);
    if (warden->input >= 0) {
        close(warden->input);
    }
    if (warden->attributes->errors != 0) {
        close((int)warden->attributes->errors);
    }
    os_threads_unpin(); /* a program that holds the CPU it was put on must not hold us */
    /* Who waits for the end of these waits for the program and its starter, not for us. */
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    keep_watch(&watch);
}
