/* timerfd_create(2), and read(2) of it. */
#include "os/timer.h"

#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

struct os_timer {
    int file;
};

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

struct os_answer os_timer_create(struct os_timer **timer)
{
    struct os_timer *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return (struct os_answer){OS_ABSENT, os_status_text(OS_NO_MEMORY)};
    }
    made->file = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (made->file < 0) {
        free(made);
        return (struct os_answer){OS_ABSENT, os_status_text(OS_NO_MEMORY)};
    }
    *timer = made;
    return (struct os_answer){OS_PRESENT, ""};
}

void os_timer_destroy(struct os_timer *timer)
{
    if (timer != NULL) {
        close(timer->file);
        free(timer);
    }
}

enum os_status os_timer_start(struct os_timer *timer, int64_t first_ns, int64_t period_ns)
{
    const struct itimerspec times = {.it_value = to_timespec(first_ns), .it_interval = to_timespec(period_ns)};
    return timerfd_settime(timer->file, TFD_TIMER_ABSTIME, &times, NULL) == 0 ? OS_OK : OS_FAILED;
}

int64_t os_timer_wait_and_read(struct os_timer *timer)
{
    uint64_t fired;
    const ssize_t got = read(timer->file, &fired, sizeof fired);
    (void)got; /* whatever it says, the clock is read */
    return os_now_ns();
}
