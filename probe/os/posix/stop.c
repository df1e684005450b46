/* Ending early: signals, and the operator's end of input. */
#include "deadline.h"
#include "interruption.h"
#include "status.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* A global: a signal handler has nowhere else to write. */
static atomic_int stop_flag;

static void on_signal(int signal)
{
    if (signal == SIGXCPU && linux_budget_overrun()) {
        return;
    }
    const int wanted = signal == SIGXCPU ? OS_STOP_WATCHDOG : OS_STOP_INTERRUPTED;
    int before = OS_STOP_NONE;
    if (!atomic_compare_exchange_strong(&stop_flag, &before, wanted) && before == OS_STOP_INTERRUPTED) {
        atomic_store(&stop_flag, OS_STOP_AT_ONCE);
    }
}

static void on_interrupt(int signal)
{
    (void)signal; /* its only work is to end a sleep */
}

static bool listen_to(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, NULL) == 0;
}

static bool is_ignored(int signal)
{
    struct sigaction before;
    return sigaction(signal, NULL, &before) == 0 && before.sa_handler == SIG_IGN;
}

enum os_status os_stop_listen(void)
{
    static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
    bool listens = true;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0] && listens; i++) {
        if (endings[i] == SIGTERM || endings[i] == SIGXCPU || !is_ignored(endings[i])) { /* nohup(1), & */
            listens = listen_to(endings[i], on_signal);
        }
    }
    /* A reader that went away, and a file that may not grow any more, are write errors, told in words. */
    listens = listens && listen_to(SIGPIPE, SIG_IGN) && listen_to(SIGXFSZ, SIG_IGN);
    return listens && listen_to(INTERRUPTION, on_interrupt) ? OS_OK : os_status_from_errno(errno);
}

enum os_stop os_stop_requested(void)
{
    return (enum os_stop)atomic_load_explicit(&stop_flag, memory_order_relaxed);
}

void os_stop_request(enum os_stop stop)
{
    int none = OS_STOP_NONE;
    atomic_compare_exchange_strong(&stop_flag, &none, (int)stop);
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
