#define _GNU_SOURCE
#include "wait.h"

#include "os/os.h"

#include <signal.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };
/* Fits into the seconds of every system; the caller sleeps again. */
static const int64_t longest_ns = 3600LL * NS_PER_S;

/* Signals are let in only while it sleeps: none can come between the last look at the flag and the sleep. */
void wait_for_files(struct pollfd *files, nfds_t count, int64_t instant_ns)
{
    const int64_t now_ns = os_now_ns();
    int64_t left_ns = instant_ns > now_ns ? instant_ns - now_ns : 0;
    left_ns = left_ns < longest_ns ? left_ns : longest_ns;
    const struct timespec left = {.tv_sec = (time_t)(left_ns / NS_PER_S), .tv_nsec = (long)(left_ns % NS_PER_S)};
    for (nfds_t i = 0; i < count; i++) {
        files[i].revents = 0;
    }
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (os_stop_requested() == OS_STOP_NONE) {
        (void)ppoll(files, count, &left, &before); /* whatever it says, the caller looks */
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
