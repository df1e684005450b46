/* futex(2), of this process alone. Who includes this defines _GNU_SOURCE. */
#ifndef TAUTO_LINUX_FUTEX_H
#define TAUTO_LINUX_FUTEX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_futex
#define SYS_futex SYS_futex_time64 /* 32-bit systems that never had another */
#endif
/* linux/futex.h, which is not where every C library looks */
enum { FUTEX_WAIT_PRIVATELY = 0 | 128, FUTEX_WAKE_PRIVATELY = 1 | 128 };

static inline long futex_wait(void *word, uint32_t while_it_is)
{
    return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATELY, while_it_is, NULL, NULL, 0);
}

static inline long futex_wake(void *word, int most)
{
    return syscall(SYS_futex, word, FUTEX_WAKE_PRIVATELY, most, NULL, NULL, 0);
}

#endif
