/*
 * A system with two domains, for tests, in place of os/posix/domain.c: a thread that watches is taken out of its
 * real-time domain every few milliseconds, wherever it stands. The real ones tell by a signal to that thread, too
 * (SIGDEBUG of Cobalt and EVL).
 */
#define _GNU_SOURCE /* SIGEV_THREAD_ID, gettid */
#include "os/posix/domain.h"

#include "os/realtime.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { SWITCH = SIGWINCH, EVERY_NS = 7300000 };

static _Thread_local os_inband_note note;
static _Thread_local void *noted;
static _Thread_local volatile sig_atomic_t is_ordinary;

enum os_status os_system_begin(const char **why)
{
    *why = "";
    return OS_OK;
}

bool domain_answers(enum os_service service, struct os_answer *answer)
{
    *answer = (struct os_answer){OS_PRESENT, ""};
    return service == OS_SERVICE_INBAND_SWITCHES;
}

void domain_facts_read(struct os_facts *facts)
{
    memcpy(facts->core, "two domains", sizeof "two domains");
}

static void on_switch(int signal)
{
    (void)signal;
    if (note != NULL && is_ordinary == 0) {
        note(noted);
    }
}

enum os_status os_thread_watch_inband(os_inband_note wanted, void *argument)
{
    const struct sigaction action = {.sa_handler = on_switch, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SWITCH};
    const struct itimerspec every = {{0, EVERY_NS}, {0, EVERY_NS}};
    timer_t timer;
    sigset_t taken;
    note = wanted;
    noted = argument;
    event.sigev_notify_thread_id = gettid();
    sigemptyset(&taken);
    sigaddset(&taken, SWITCH);
    if (sigaction(SWITCH, &action, NULL) != 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &every, NULL) != 0 || pthread_sigmask(SIG_UNBLOCK, &taken, NULL) != 0) {
        return OS_FAILED;
    }
    return OS_OK;
}

void os_thread_go_ordinary(void)
{
    is_ordinary = 1;
}

void os_thread_go_realtime(void)
{
    is_ordinary = 0;
}
