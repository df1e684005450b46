/* Loaded into QEMU by the virtual lab, so that what counts instructions repeats on a busy host, too.
 *
 * Where all of a guest sleeps, QEMU's main loop moves the guest's clock to the next timer. It takes a virtual CPU for
 * asleep from the `hlt` on, which is before that CPU's thread has counted the instructions up to it. A main loop that
 * runs in between adds them to the clock twice. It has no reason to run then but that a timer has expired under a
 * running CPU, which wakes it for nothing. So here it waits, once woken, until the CPU's thread waits for it.
 *
 * These functions stand before those of the C library: QEMU's threads wait for each other by conditions, its main loop
 * for all else by ppoll(2). See icount_start_warp_timer and rr_cpu_thread_fn in QEMU's accel/tcg.
 */
#define _GNU_SOURCE /* RTLD_NEXT, dlvsym, gettid, ppoll */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* One that computes on and on, or waits for the lab, is not waited for any longer: QEMU may have been asked to end. */
enum { PATIENCE_S = 1 };

/* The lock that all of QEMU shares, by the one that the main loop waits with until the CPU's thread is there. */
static _Atomic(const pthread_mutex_t *) shared;
static _Atomic(const pthread_cond_t *) asleep; /* what the CPU's thread waits for, since it did so for the first time */
static _Atomic(uint32_t) waits;                /* 1: it waits, and nobody has woken it */
static atomic_bool is_held;                    /* the main loop waits for that */

static bool is_main(void)
{
    static _Thread_local enum { UNKNOWN, MAIN, OTHER } thread;
    if (thread == UNKNOWN) {
        thread = gettid() == getpid() ? MAIN : OTHER;
    }
    return thread == MAIN;
}

/* Before its version 2.36, glibc's dlsym(3) finds the oldest function of a name: that of conditions as they were before
 * 2.3.2, which the functions of today do not wake up. Where there is none of this version, there is one only. */
static void *next(const char *name)
{
    void *found = NULL;
#ifdef __GLIBC__
    found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
#endif
    return found != NULL ? found : dlsym(RTLD_NEXT, name);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    static int (*waiting)(pthread_cond_t *, pthread_mutex_t *);
    if (waiting == NULL) {
        *(void **)&waiting = next("pthread_cond_wait");
    }
    if (is_main()) {
        const pthread_mutex_t *none = NULL;
        atomic_compare_exchange_strong(&shared, &none, mutex);
        return waiting(condition, mutex);
    }
    if (mutex != atomic_load(&shared)) {
        return waiting(condition, mutex);
    }
    atomic_store(&asleep, condition);
    atomic_store(&waits, 1);
    if (atomic_load(&is_held)) {
        (void)syscall(SYS_futex, &waits, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    const int result = waiting(condition, mutex);
    atomic_store(&waits, 0);
    return result;
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
    static int (*waking)(pthread_cond_t *);
    if (waking == NULL) {
        *(void **)&waking = next("pthread_cond_broadcast");
    }
    if (condition == atomic_load(&asleep)) {
        atomic_store(&waits, 0);
    }
    return waking(condition);
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    static int (*polling)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    if (polling == NULL) {
        *(void **)&polling = next("ppoll");
    }
    const int result = polling(files, count, timeout, mask);
    if (is_main() && atomic_load(&asleep) != NULL && atomic_load(&waits) == 0) {
        const int error = errno;
        const struct timespec patience = {.tv_sec = PATIENCE_S};
        atomic_store(&is_held, true);
        (void)syscall(SYS_futex, &waits, FUTEX_WAIT_PRIVATE, 0, &patience, NULL, 0);
        atomic_store(&is_held, false);
        errno = error;
    }
    return result;
}
