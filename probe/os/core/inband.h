/* Leaving the real-time domain, as far as Cobalt and EVL tell it alike: by SIGDEBUG, which is SIGXCPU. A port makes these. */
#ifndef TAUTO_CORE_INBAND_H
#define TAUTO_CORE_INBAND_H

#include <signal.h>
#include <stdbool.h>

enum core_news { CORE_NEWS_OTHER, CORE_NEWS_LEFT, CORE_NEWS_WATCHDOG };
/* What the signal tells. The watchdog of Linux sends the same one (posix/stop.c). */
enum core_news core_news_of(const siginfo_t *info);
/* The core tells the calling thread from now on, which is in the real-time domain again afterwards. */
bool core_begin_to_tell(void);
void core_go_ordinary(void);
/* At once, so that the first call of a measured interval does not have it. */
void core_go_realtime(void);

#endif
