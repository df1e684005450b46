/* The options of `timerlat`. */
#ifndef TAUTO_TIMERLAT_OPTIONS_H
#define TAUTO_TIMERLAT_OPTIONS_H

#include "experiment/conditions.h"
#include "experiment/rhythm.h"

struct timerlat_options {
    const char *cpus_text; /* NULL: the first */
    struct cpu_list cpus;
    struct rhythm rhythm;
    int64_t count;  /* releases of each CPU that are recorded */
    int64_t warmup; /* releases before those */
    struct conditions conditions;
};

/* True to go on, otherwise `code` is the program's exit code; refusals are told. */
bool timerlat_options_read(struct timerlat_options *options, int argc, char **argv, int *code);
/* "parameters" and "schedule" of the header. */
void timerlat_options_to_json(struct json *json, const struct timerlat_options *options, int64_t ring_rows);

#endif
