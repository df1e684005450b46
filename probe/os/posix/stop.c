/* Ending early: signals, the operator's end of input, and the watchdog. */
#include "status.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NS_PER_US = 1000 };

/* The one global of the probe: a signal handler has nowhere else to write. */
static atomic_int stop_flag;

static void on_signal(int signal)
{
    int none = OS_STOP_NONE;
    const int wanted = signal == SIGXCPU ? OS_STOP_WATCHDOG : OS_STOP_INTERRUPTED;
    atomic_compare_exchange_strong(&stop_flag, &none, wanted);
}

static void on_interrupt(int signal)
{
    (void)signal; /* its only work is to end a sleep */
}

static int listen_to(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, NULL) == 0 ? 0 : errno;
}

enum os_status os_stop_listen(void)
{
    static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
    int error = 0;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0] && error == 0; i++) {
        error = listen_to(endings[i], on_signal);
    }
    if (error == 0) {
        error = listen_to(SIGUSR1, on_interrupt);
    }
    if (error == 0) {
        error = listen_to(SIGPIPE, SIG_IGN); /* a reader that went away is a write error, told in words */
    }
    return os_status_from_errno(error);
}

enum os_stop os_stop_requested(void)
{
    return (enum os_stop)atomic_load_explicit(&stop_flag, memory_order_relaxed);
}

void os_stop_request(void)
{
    int none = OS_STOP_NONE;
    atomic_compare_exchange_strong(&stop_flag, &none, OS_STOP_INTERRUPTED);
}

bool os_input_ended(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char discarded[256];
    if (poll(&input, 1, 0) <= 0) {
        return false;
    }
    return (input.revents & POLLNVAL) != 0 || read(STDIN_FILENO, discarded, sizeof discarded) == 0;
}

/* RLIMIT_RTTIME (getrlimit(2)) counts, in the kernel's own tick, the time that a real-time thread runs without
 * a blocking call. Past the soft limit the running thread itself gets SIGXCPU; past the hard one, SIGKILL. */
enum os_status os_watchdog_start(int64_t budget_ns)
{
    const rlim_t budget_us = (rlim_t)(budget_ns / NS_PER_US);
    struct rlimit limit = {.rlim_cur = budget_us, .rlim_max = 2 * budget_us};
    struct rlimit before;
    if (getrlimit(RLIMIT_RTTIME, &before) == 0 && before.rlim_max != RLIM_INFINITY &&
        limit.rlim_max > before.rlim_max) {
        limit.rlim_max = before.rlim_max;
        limit.rlim_cur = limit.rlim_cur < before.rlim_max ? limit.rlim_cur : before.rlim_max / 2;
    }
    return setrlimit(RLIMIT_RTTIME, &limit) == 0 ? OS_OK : os_status_from_errno(errno);
}
