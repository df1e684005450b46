/*
 * The ruler itself: for each clock of the system, what a reading costs and how finely it steps. Each row is two
 * consecutive readings of that clock; nothing lies between them. The header holds the calibration of every clock.
 */
#include "experiment/experiment.h"
#include "experiment/recording_options.h"

#include "message.h"
#include "format.h"

#include <string.h>

enum { DEFAULT_READINGS = 100000, LONGEST_NAME_LIST = 256 };

static const struct column columns[] = {
    {"first_ns", "a reading of the clock", NULL},
    {"second_ns", "the next reading of the same clock", NULL},
};
static const struct measure step = {"step_ns", "difference of two consecutive readings", 0, 1};
static const struct schema clock_schema = {
    .columns = columns,
    .column_count = 2,
    .measures = &step,
    .measure_count = 1,
};

struct clock_options {
    const char *clocks;
    int64_t count;
    struct recording_options recording;
};

/* Which clocks: indices into the system's list. False after telling that a name is unknown. */
static bool choose_clocks(const char *wanted, size_t *chosen, uint32_t *count)
{
    *count = 0;
    for (const char *at = wanted; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        bool found = false;
        for (size_t i = 0; i < os_clock_count(); i++) {
            if (strcmp(wanted, "all") == 0 ||
                (strlen(os_clock_name(i)) == length && strncmp(os_clock_name(i), at, length) == 0)) {
                chosen[(*count)++] = i;
                found = true;
            }
        }
        if (!found) {
            refuse(EXIT_USAGE, "--clocks %s: no such clock here.\n"
                               "'tauto-probe clock' measures them all and names them.",
                   wanted);
            return false;
        }
        at += length + (at[length] == ',' ? 1 : 0);
        if (*count + os_clock_count() > LONGEST_NAME_LIST) {
            break;
        }
    }
    return *count > 0;
}

static void measure_clock(struct source *source, size_t clock, int64_t count)
{
    const int64_t cpu_time_before_ns = os_thread_cpu_time_ns();
    for (int64_t i = 0; i < count; i++) {
        int64_t *const row = ring_slot(&source->ring);
        const int64_t first_ns = os_clock_read_ns(clock);
        const int64_t second_ns = os_clock_read_ns(clock);
        if (row != NULL) {
            row[0] = first_ns;
            row[1] = second_ns;
            ring_commit(&source->ring);
        }
        source->counters.completed++;
        if (os_stop_requested() != OS_STOP_NONE) {
            break;
        }
    }
    source->counters.cpu_time_ns = source_cpu_time_since(cpu_time_before_ns);
    source_finish(source);
}

static int write_header(struct recorder *recorder, const struct clock_options *options, const size_t *clocks)
{
    struct json json;
    recorder_header_begin(recorder, &json, "clock");
    json_open_object(&json, "parameters");
    json_text(&json, "clocks", options->clocks);
    json_integer(&json, "count", options->count);
    recording_to_json(&json, &options->recording, options->count);
    json_close_object(&json);
    json_open_array(&json, "sources");
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        const struct clock_calibration calibration = calibrate_clock(clocks[i]);
        json_open_object(&json, NULL);
        recorder_source_to_json(recorder, &json, i);
        calibration_to_json(&json, "calibration", &calibration);
        json_close_object(&json);
    }
    json_close_array(&json);
    return recorder_header_end(recorder, &json);
}

static bool read_options(struct clock_options *options, int argc, char **argv, int *code)
{
    *options = (struct clock_options){.clocks = "all", .count = DEFAULT_READINGS};
    struct option table[] = {
        {"clocks", OPTION_TEXT, &options->clocks, NULL, "names, joined by commas [all]", false},
        {"count", OPTION_COUNT, &options->count, NULL, "pairs of readings for each clock [100000]", false},
        RECORDING_OPTIONS(&options->recording),
    };
    const size_t count = sizeof table / sizeof table[0];
    if (!options_read_or_help(table, count, argc, argv,
                              "usage: tauto-probe clock [options]\n\nCost and resolution of each clock.\n\n", code)) {
        return false;
    }
    if (options->count < 1 || options->count > 10000000) {
        refuse(EXIT_USAGE, "--count must lie between 1 and 10000000.");
        return false;
    }
    if (options_given("ring") || options_given("drain")) {
        refuse(EXIT_USAGE, "--ring and --drain are not for clock, which keeps all rows in memory until the end.");
        return false;
    }
    options->recording.drain = DRAIN_AT_END;
    return recording_check(&options->recording);
}

int experiment_clock(int argc, char **argv)
{
    struct clock_options options;
    size_t clocks[LONGEST_NAME_LIST] = {0};
    uint32_t clock_count = 0;
    int code = EXIT_MEASURED;
    if (!read_options(&options, argc, argv, &code)) {
        return code;
    }
    if (!choose_clocks(options.clocks, clocks, &clock_count)) {
        return EXIT_USAGE;
    }
    if (os_stop_listen() != OS_OK) {
        return refuse(EXIT_FAILED, "signals can't be listened to here.");
    }
    code = recording_lock_memory(&options.recording, false);
    if (code != EXIT_MEASURED) {
        return code;
    }
    struct recorder recorder;
    const struct recorder_options recorder_options =
        recording_for_recorder(&options.recording, options.count, 0, false);
    code = recorder_open(&recorder, &recorder_options, &clock_schema, clock_count);
    if (code != EXIT_MEASURED) {
        return code;
    }
    for (uint32_t i = 0; i < clock_count; i++) {
        format_text(recorder.sources[i].name, sizeof recorder.sources[i].name, "%s", os_clock_name(clocks[i]));
    }
    code = recorder_open_output(&recorder);
    if (code == EXIT_MEASURED) {
        code = write_header(&recorder, &options, clocks);
    }
    if (code != EXIT_MEASURED) {
        recorder_abandon(&recorder);
        return code;
    }
    for (uint32_t i = 0; i < clock_count; i++) {
        measure_clock(&recorder.sources[i], clocks[i], options.count);
    }
    recorder_run(&recorder);
    return recorder_close(&recorder);
}
