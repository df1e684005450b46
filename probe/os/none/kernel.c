/* Neither Linux's tracer of timers nor the kernel-space half of the probe, which is a module of Linux. */
#include "os/kernel_half.h"
#include "os/timerlat.h"

static const struct os_answer nothing = {OS_ABSENT, "it is of the kernel of Linux, and this is another one"};

struct os_answer os_timerlat_open(struct os_timerlat **trace, const int32_t *cpus, uint32_t count, int64_t period_ns,
                                  uint32_t *left_over)
{
    (void)trace;
    (void)cpus;
    (void)count;
    (void)period_ns;
    *left_over = 0;
    return nothing;
}

bool os_timerlat_close(struct os_timerlat *trace)
{
    (void)trace;
    return true;
}

enum os_status os_timerlat_read(struct os_timerlat *trace, uint32_t index, os_timerlat_visitor visit, void *argument)
{
    (void)trace;
    (void)index;
    (void)visit;
    (void)argument;
    return OS_UNSUPPORTED;
}

bool os_timerlat_thread(int64_t thread, struct os_thread_obtained *obtained)
{
    (void)thread;
    (void)obtained;
    return false;
}

int64_t os_timerlat_thread_cpu_time_ns(int64_t thread)
{
    (void)thread;
    return INT64_MIN;
}

int32_t os_timerlat_below_highest(void)
{
    return 0;
}

struct os_answer os_kernel_half_open(struct os_kernel_half **half)
{
    (void)half;
    return nothing;
}

void os_kernel_half_close(struct os_kernel_half *half)
{
    (void)half;
}

void os_kernel_half_build(char build[KERNEL_BUILD_BYTES])
{
    build[0] = '\0';
}

enum os_status os_kernel_half_set_up(struct os_kernel_half *half, const struct kernel_setup *setup,
                                     struct os_thread_obtained obtained[2])
{
    (void)half;
    (void)setup;
    (void)obtained;
    return OS_UNSUPPORTED;
}

enum os_status os_kernel_half_start(struct os_kernel_half *half)
{
    (void)half;
    return OS_UNSUPPORTED;
}

enum os_status os_kernel_half_stop(struct os_kernel_half *half)
{
    (void)half;
    return OS_UNSUPPORTED;
}

enum os_status os_kernel_half_read(struct os_kernel_half *half, struct kernel_row *rows, size_t most, size_t *count)
{
    (void)half;
    (void)rows;
    (void)most;
    *count = 0;
    return OS_UNSUPPORTED;
}

enum os_status os_kernel_half_books(struct os_kernel_half *half, struct kernel_books *books)
{
    (void)half;
    (void)books;
    return OS_UNSUPPORTED;
}

enum os_status os_kernel_half_receive(struct os_kernel_half *half)
{
    (void)half;
    return OS_UNSUPPORTED;
}

enum os_status os_kernel_half_answer(struct os_kernel_half *half, int64_t received_ns)
{
    (void)half;
    (void)received_ns;
    return OS_UNSUPPORTED;
}
