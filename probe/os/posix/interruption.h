/* The signal that ends a sleep early (os_thread_interrupt): its handler is set with those of the end (stop.c). */
#ifndef TAUTO_POSIX_INTERRUPTION_H
#define TAUTO_POSIX_INTERRUPTION_H

#include <signal.h>

enum { INTERRUPTION = SIGUSR1 };

#endif
