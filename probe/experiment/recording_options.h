/* The options that every experiment has: where the samples go and how they are kept. */
#ifndef TAUTO_RECORDING_OPTIONS_H
#define TAUTO_RECORDING_OPTIONS_H

#include "options.h"
#include "record/recorder.h"

struct recording_options {
    const char *out;
    int record;
    int drain;
    int64_t keep_above_ns; /* 0: nothing */
    int64_t every_ns;      /* 0: as room allows */
    int64_t ring_rows;
    const char *housekeeping; /* NULL: CPUs that are not measured */
    const char *blame_text; /* NULL: no late cycles are explained */
    int blame_recorder;     /* enum os_late_way */
    struct blame blame;     /* after recording_check */
    bool progress;
    bool no_memory_lock;
};

extern const struct option_group recording_group;
extern const struct option_group blame_group;

#define RECORDING_OPTIONS(target) OPTIONS_OF(recording_group, target)
/* Of experiments whose measure of late cycles begins with a release (schema.late_measure). */
#define BLAME_OPTIONS(target) OPTIONS_OF(blame_group, target)

/* Locks memory as asked, after telling what to do where it is refused: `asks_for_priority` also where a real-time
 * priority will be. Returns an exit code. */
int recording_lock_memory(const struct recording_options *options, bool asks_for_priority);
/* False after telling which of them contradict each other. Reads what is said in words. */
bool recording_check(struct recording_options *options);
/* Rows for each ring: as given, or enough for `rows` when nothing may be written before the end, or for what comes in
 * half a minute of releases `period_ns` apart (0: nobody knows how often). -1 after telling that it can't be. */
int64_t recording_ring_rows(const struct recording_options *options, int64_t rows, int64_t period_ns);
struct recorder_options recording_for_recorder(const struct recording_options *options, int64_t ring_rows,
                                               int64_t budget_ns, bool periodic);
/* The keys of "parameters" that belong to these options. */
void recording_to_json(struct json *json, const struct recording_options *options, int64_t ring_rows);

#endif
