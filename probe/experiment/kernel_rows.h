/* The rows of the experiment `kernel`: what the kernel half is asked to do for each, and how its records come here. */
#ifndef TAUTO_KERNEL_ROWS_H
#define TAUTO_KERNEL_ROWS_H

#include "experiment/kernel_options.h"

enum { KERNEL_TABLE_LIMIT = 2 * KERNEL_MECHANISM_COUNT * PERIODS_LIMIT };

struct kernel_table_row {
    enum kernel_mechanism mechanism;
    int64_t period_ns;
    int32_t cpus[2]; /* of task 1 and task 2 */
    struct os_thread_obtained obtained[2];
};

struct kernel_rows {
    const struct kernel_options *options;
    struct os_kernel_half *half;
    struct recorder *recorder;
    struct kernel_table_row rows[KERNEL_TABLE_LIMIT];
    uint32_t count;
    _Atomic int failure; /* enum os_status */
};

/* Which rows there are. */
void kernel_rows_lay_out(struct kernel_rows *rows);

/* What the tasks of a row are asked to be. */
struct os_thread_attributes kernel_rows_requested(const struct kernel_rows *rows, const struct kernel_table_row *row,
                                                  int task);

/* Sets up each row once without starting it, to know what is refused and what its threads obtain. Returns an exit code;
 * refusals are told. */
int kernel_rows_try(struct kernel_rows *rows);

/* Runs them one after the other; the entry of a thread, with struct kernel_rows. Every source is finished after it. */
void kernel_rows_run(void *rows);

#endif
