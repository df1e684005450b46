/* A stand-in for Xenomai's header, for tests: what the port needs of it. */
#ifndef STAND_IN_COBALT_SIGNAL_H
#define STAND_IN_COBALT_SIGNAL_H

#include_next <signal.h>

#define SIGSUSP (SIGRTMAX + 1)
#define SIGRESM (SIGRTMAX + 2)
#define SIGRELS (SIGRTMAX + 3)

#define SIGDEBUG SIGXCPU
#define sigdebug_reason(info) ((info)->si_value.sival_int & 0xff)
#define sigdebug_marker 0xfccf0000U
#define sigdebug_marked(info) (((unsigned)(info)->si_value.sival_int & 0xffff0000U) == sigdebug_marker)

#define SIGDEBUG_MIGRATE_SIGNAL 1
#define SIGDEBUG_MIGRATE_SYSCALL 2
#define SIGDEBUG_MIGRATE_FAULT 3
#define SIGDEBUG_MIGRATE_PRIOINV 4
#define SIGDEBUG_WATCHDOG 6

#endif
