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
    int64_t ring_rows;
    const char *housekeeping; /* NULL: CPUs that are not measured */
    const char *blame_text; /* NULL: no late cycles are explained */
    int blame_recorder;     /* enum os_late_way */
    struct blame blame;     /* after recording_check */
    bool progress;
    bool no_memory_lock;
};

#define RECORDING_OPTIONS(target)                                                                                     \
    {"out", OPTION_TEXT, &(target)->out, NULL, "write the sample stream there; - is standard output", false},         \
        {"record", OPTION_CHOICE, &(target)->record, recording_modes, "every sample, or bins [raw]", false},          \
        {"keep-above", OPTION_DURATION, &(target)->keep_above_ns, NULL,                                               \
         "beside bins, whole rows with a time of this or more [none]", false},                                        \
        {"drain", OPTION_CHOICE, &(target)->drain, recording_drains, "write while measuring, or after it [live]",     \
         false},                                                                                                      \
        {"ring", OPTION_COUNT, &(target)->ring_rows, NULL, "rows in memory for each thread [30 s, 262144 at most]", false},    \
        {"progress", OPTION_FLAG, &(target)->progress, NULL, "a line a second on standard error", false},             \
    {                                                                                                                 \
        "no-memory-lock", OPTION_FLAG, &(target)->no_memory_lock, NULL, "measure with pageable memory", false         \
    }

/* Of experiments whose measure of late cycles begins with a release (schema.late_measure). */
#define BLAME_OPTIONS(target)                                                                                         \
    {"blame", OPTION_TEXT, &(target)->blame_text, NULL, "explain cycles this late: 50us, or 99.9% [none]", false},    \
    {                                                                                                                 \
        "blame-recorder", OPTION_CHOICE, &(target)->blame_recorder, recording_recorders,                              \
            "what records their events [best]", false                                                                 \
    }

extern const char *const recording_recorders[];
extern const char *const recording_modes[];
extern const char *const recording_drains[];

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
