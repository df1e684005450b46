/* Where the threads that drain and watch stay while others measure: on CPUs that are not measured, where there are any. */
#ifndef TAUTO_HOUSEKEEPING_H
#define TAUTO_HOUSEKEEPING_H

#include "options.h"
#include "os/os.h"
#include "record/json.h"

struct housekeeping {
    struct cpu_list cpus; /* none: anywhere */
    struct cpu_list left; /* where the thread could run before */
};

/* This CPU is measured by others than threads of this process, for which it is known without asking. */
void housekeeping_avoid(int32_t cpu);

/* `text` is that of --housekeeping: CPUs, or "any", wherever the system puts it; NULL: those of this process that are not
 * measured. Returns an exit code, after telling what is wrong. */
int housekeeping_choose(struct housekeeping *house, const char *text);
/* The calling thread, and whom it starts from now on, stays there. */
enum os_status housekeeping_begin(struct housekeeping *house);
/* It may run again where it could before. */
void housekeeping_end(const struct housekeeping *house);
/* "housekeeping" of the header: what was asked for, and where it is; null: nowhere in particular. */
void housekeeping_to_json(struct json *json, const char *asked, const struct housekeeping *house);

#endif
