/* The two programs that run in the kernel at the timer's events, and the memory that they share with us. */
#ifndef TAUTO_POSIX_TIMER_TRACE_BPF_H
#define TAUTO_POSIX_TIMER_TRACE_BPF_H

#include "timer_trace_format.h"

#include <stdatomic.h>

struct timer_cell {
    _Atomic int64_t expiry_ns;  /* ours: what the thread sleeps until */
    _Atomic uint64_t timer;     /* theirs: the timer that was armed for it; 0: none yet, or expired */
    _Atomic int64_t handler_ns; /* theirs: the handler's reading of the clock */
};

/* Each returns a file descriptor, or -1 with errno set. */
int timer_bpf_create_map(void);
int timer_bpf_load_start(int map, const struct trace_event *start);
int timer_bpf_load_expire(int map, const struct trace_event *expire);

/* The same at the raw tracepoints (bpf(2), Linux 5.5), without perf between. They get the timer itself, of which they read
 * `softexpires` where 64-bit kernels have had it since 4.16; who opens them sees in a trial whether it lies there. */
int timer_bpf_open_raw_start(int map);
int timer_bpf_open_raw_expire(int map);

#endif
