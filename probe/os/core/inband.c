#include "inband.h"

#include "os/realtime.h"

static _Thread_local os_inband_note note;
static _Thread_local void *noted;
static _Thread_local volatile sig_atomic_t is_ordinary;

static void on_sigdebug(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    switch (core_news_of(info)) {
    case CORE_NEWS_LEFT:
        if (note != NULL && is_ordinary == 0) {
            note(noted);
        }
        break;
    case CORE_NEWS_WATCHDOG:
        os_stop_request(OS_STOP_WATCHDOG);
        break;
    case CORE_NEWS_OTHER:
        break;
    }
}

enum os_status os_thread_watch_inband(os_inband_note wanted, void *argument)
{
    struct sigaction action = {.sa_sigaction = on_sigdebug, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    noted = argument;
    note = wanted;
    if (sigaction(SIGXCPU, &action, NULL) != 0 || !core_begin_to_tell()) {
        note = NULL;
        return OS_FAILED;
    }
    return OS_OK;
}

void os_thread_go_ordinary(void)
{
    is_ordinary = 1;
    core_go_ordinary();
}

void os_thread_go_realtime(void)
{
    core_go_realtime();
    is_ordinary = 0;
}
