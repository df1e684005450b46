/* Interrupts: what the system counts of them, and ways to cause them. For loads. */
#ifndef TAUTO_OS_INTERRUPTS_H
#define TAUTO_OS_INTERRUPTS_H

#include "os/os.h"
#include "text.h"

enum { OS_INTERRUPT_NAMES = 24, OS_INTERRUPT_NAME_BYTES = 12 };

/* What the system has counted since it began, on some of its CPUs: of each interrupt a count for each of them. */
struct os_interrupt_list {
    uint32_t cpu_count;
    struct text lines;
};

/* To be freed whatever is returned. OS_NOT_FOUND, OS_NOT_PERMITTED or OS_UNSUPPORTED where the system does not tell;
 * OS_INVALID: one of the CPUs is not on line. */
enum os_status os_interrupts_list(struct os_interrupt_list *list, const int32_t *cpus, uint32_t cpu_count);
/* The same of the work that interrupts leave behind for later: on Linux the softirqs (NET_RX, TIMER, HRTIMER …). */
enum os_status os_deferred_list(struct os_interrupt_list *list, const int32_t *cpus, uint32_t cpu_count);
void os_interrupt_list_free(struct os_interrupt_list *list);

/* What came between two lists of the same CPUs. */
struct os_interrupt_counts {
    uint64_t all;
    /* Those that have a short name rather than a number (on Linux LOC, CAL, IPI0 …), as many as fit. */
    size_t names;
    struct {
        char name[OS_INTERRUPT_NAME_BYTES];
        uint64_t count;
    } named[OS_INTERRUPT_NAMES];
};

/* A count of 32 bits that began again at 0 meanwhile has gone on. */
void os_interrupts_between(const struct os_interrupt_list *before, const struct os_interrupt_list *after,
                           struct os_interrupt_counts *counts);

/* Sleeps of the calling thread end when they should, not later so that others end with them. Real-time threads never
 * sleep otherwise. */
void os_thread_sleep_exactly(void);

/* Interrupts every other CPU on which a thread of this process runs at the moment, and returns when they have answered.
 * Each thread has its own. OS_UNSUPPORTED: this system has no way to. */
struct os_interrupter;
enum os_status os_interrupter_create(struct os_interrupter **interrupter);
void os_interrupter_destroy(struct os_interrupter *interrupter);
enum os_status os_interrupter_use(struct os_interrupter *interrupter);
/* How it does that, in the system's own word; never NULL. */
const char *os_interrupter_way(const struct os_interrupter *interrupter);

#endif
