/* A stand-in for libevl's header, for tests: what the port needs of it. */
#ifndef STAND_IN_EVL_H
#define STAND_IN_EVL_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define EVL_CLOCK_MONOTONIC (-CLOCK_MONOTONIC)
#define EVL_CLONE_PRIVATE 0
#define EVL_MUTEX_NORMAL 0
#define EVL_T_WOSS 0x00008000
#define SCHED_WEAK 43

#define SIGDEBUG SIGXCPU
#define sigdebug_code(info) ((info)->si_value.sival_int)
#define sigdebug_cause(info) (sigdebug_code(info) & 0xff)
#define sigdebug_marker 0xfccf0000U
#define sigdebug_marked(info) (((unsigned)sigdebug_code(info) & 0xffff0000U) == sigdebug_marker)
#define EVL_HMDIAG_SIGDEMOTE 1
#define EVL_HMDIAG_SYSDEMOTE 2
#define EVL_HMDIAG_EXDEMOTE 3
#define EVL_HMDIAG_WATCHDOG 4
#define EVL_HMDIAG_LKDEPEND 5

struct evl_version {
    int api_level;
    int abi_level;
    const char *version_string;
};
struct evl_sched_attrs {
    int sched_policy;
    int sched_priority;
};
struct evl_thread_state {
    struct evl_sched_attrs eattrs;
    uint32_t cpu, state, isw, csw, sc, rwa;
    uint64_t xtime;
};
struct evl_mutex {
    pthread_mutex_t native;
};
struct evl_event {
    pthread_cond_t native;
};
struct evl_sem {
    pthread_mutex_t mutex;
    pthread_cond_t posted;
    int value;
};

int evl_init(void);
struct evl_version evl_get_version(void);
int evl_attach_thread(int flags, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define evl_attach_self(...) evl_attach_thread(EVL_CLONE_PRIVATE, __VA_ARGS__)
int evl_detach_self(void);
int evl_get_self(void);
int evl_switch_oob(void);
int evl_switch_inband(void);
bool evl_is_inband(void);
int evl_get_state(int element, struct evl_thread_state *state);
int evl_unblock_thread(int element);
int evl_set_thread_mode(int element, int mask, int *before);
int evl_set_schedattr(int element, const struct evl_sched_attrs *wanted);
int evl_yield(void);
int evl_read_clock(int clock, struct timespec *now);
int evl_sleep_until(int clock, const struct timespec *until);
int evl_create_mutex(struct evl_mutex *, int clock, unsigned ceiling, int flags, const char *format, ...);
int evl_lock_mutex(struct evl_mutex *);
int evl_unlock_mutex(struct evl_mutex *);
int evl_close_mutex(struct evl_mutex *);
int evl_create_sem(struct evl_sem *, int clock, int value, int flags, const char *format, ...);
int evl_get_sem(struct evl_sem *);
int evl_timedget_sem(struct evl_sem *, const struct timespec *until);
int evl_put_sem(struct evl_sem *);
int evl_close_sem(struct evl_sem *);
int evl_create_event(struct evl_event *, int clock, int flags, const char *format, ...);
int evl_wait_event(struct evl_event *, struct evl_mutex *);
int evl_signal_event(struct evl_event *);
int evl_broadcast_event(struct evl_event *);
int evl_close_event(struct evl_event *);
int evl_create_proxy(int target, size_t bytes, size_t granularity, int flags, const char *format, ...);
int evl_new_timer(int clock);
int evl_set_timer(int element, const struct itimerspec *value, struct itimerspec *before);
ssize_t oob_read(int element, void *data, size_t bytes);
ssize_t oob_write(int element, const void *data, size_t bytes);

#endif
