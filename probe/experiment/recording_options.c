#include "experiment/recording_options.h"

#include "message.h"
#include "os/late_trace.h"

#include <inttypes.h>
#include <string.h>

static const char *const modes[] = {"raw", "histogram", NULL};
static const char *const drains[] = {"live", "at-end", NULL};
static const char *const recorders[] = {
    [OS_LATE_BEST] = "best", [OS_LATE_BPF] = "bpf", [OS_LATE_PERF] = "perf", [OS_LATE_PERF + 1] = NULL};

static struct recording_options form; /* only its addresses count */

static const struct option options_of_all[] = {
    {"out", OPTION_TEXT, &form.out, NULL, "write the sample stream there; - is standard output", false},
    {"record", OPTION_CHOICE, &form.record, modes, "every sample, or bins [raw]", false},
    {"keep-above", OPTION_DURATION, &form.keep_above_ns, NULL,
     "beside bins, whole rows with a time of this or more [none]", false},
    {"every", OPTION_DURATION, &form.every_ns, NULL, "write bins and counts of each such interval [none]", false},
    {"drain", OPTION_CHOICE, &form.drain, drains, "write while measuring, or after it [live]", false},
    {"ring", OPTION_COUNT, &form.ring_rows, NULL, "rows in memory for each thread [30 s, 262144 at most]", false},
    {"progress", OPTION_FLAG, &form.progress, NULL, "a line a second on standard error", false},
    {"no-memory-lock", OPTION_FLAG, &form.no_memory_lock, NULL, "measure with pageable memory", false},
};
const struct option_group recording_group = {options_of_all, sizeof options_of_all / sizeof options_of_all[0], &form};

static const struct option blame_options[] = {
    {"blame", OPTION_TEXT, &form.blame_text, NULL, "explain cycles this late: 50us, or 99.9% [none]", false},
    {"blame-recorder", OPTION_CHOICE, &form.blame_recorder, recorders, "what records their events [best]", false},
};
const struct option_group blame_group = {blame_options, sizeof blame_options / sizeof blame_options[0], &form};

/* What comes between two looks of the drain, a tenth of a second apart, and while its output makes it wait. */
enum { NS_PER_S = 1000000000 };
enum { MOST_ROWS_UNASKED = 262144, LEAST_ROWS_UNASKED = 1024 };
static const int64_t held_with_output_ns = 30000000000;
static const int64_t held_without_ns = 4000000000;
static const int64_t most_ring_rows = (int64_t)1 << 32;

int recording_lock_memory(const struct recording_options *options, bool asks_for_priority)
{
    if (options->no_memory_lock) {
        return EXIT_MEASURED;
    }
    const enum os_status status = os_memory_lock();
    if (status == OS_OK) {
        return EXIT_MEASURED;
    }
    const char *const next =
        asks_for_priority && os_service_available(OS_SERVICE_POLICY_FIFO).availability == OS_DENIED
            ? " A real-time priority is not permitted either: most measurements do without it by --policy other."
            : "";
    const int64_t limit = os_memory_lock_limit_bytes();
    if (limit == INT64_MAX) {
        return refuse(EXIT_NOT_PERMITTED, "memory can't be locked: %s.\n%s%s", os_status_text(status),
                      os_advice_for_memory_lock(), next);
    }
    return refuse(EXIT_NOT_PERMITTED,
                  "memory can't be locked: the limit RLIMIT_MEMLOCK (ulimit -l) is %" PRId64 " KiB, and the probe needs "
                  "more.\n%s%s",
                  limit / 1024, os_advice_for_memory_lock(), next);
}

/* "50us", or "99.9%": a share of all cycles, those beyond which are late. */
static bool read_blame(struct recording_options *options)
{
    const char *const text = options->blame_text;
    struct blame *const blame = &options->blame;
    *blame = (struct blame){.text = text, .way = options->blame_recorder};
    if (text == NULL) {
        return true;
    }
    const size_t length = strlen(text);
    const bool is_read = strchr(text, '%') != NULL
                             ? share_read(text, length, &blame->share) && blame->share > 0 && blame->share < SHARE_WHOLE &&
                                   blame->share % BLAME_FINEST_SHARE == 0
                             : duration_read(text, length, &blame->threshold_ns) && blame->threshold_ns > 0;
    if (!is_read) {
        refuse(EXIT_USAGE, "--blame %s: neither a length of time nor a share of the cycles.\nWrite 50us: later than that is "
                           "late; or 99.9%%: what is later than 99.9%% of all is late.",
               text);
        return false;
    }
    if (options->out == NULL || options->drain == DRAIN_AT_END) {
        refuse(EXIT_USAGE, "--blame explains cycles while the run goes on, in its stream: it needs --out, and --drain live.");
        return false;
    }
    return true;
}

bool recording_check(struct recording_options *options)
{
    if (options->keep_above_ns != 0 && (options->record != RECORD_HISTOGRAM || options->out == NULL)) {
        refuse(EXIT_USAGE, "--keep-above keeps rows beside bins: it needs --record histogram and --out.\n"
                           "--record raw keeps every row.");
        return false;
    }
    if (options->every_ns != 0 && (options->every_ns < NS_PER_S || options->record != RECORD_HISTOGRAM ||
                                   options->out == NULL || options->drain == DRAIN_AT_END)) {
        refuse(EXIT_USAGE, "--every needs 1s or more, --record histogram, --out and --drain live.");
        return false;
    }
    return read_blame(options);
}

static int64_t rows_unasked(const struct recording_options *options, int64_t period_ns)
{
    if (period_ns == 0) {
        return MOST_ROWS_UNASKED;
    }
    const int64_t rows = (options->out != NULL ? held_with_output_ns : held_without_ns) / period_ns;
    return rows < LEAST_ROWS_UNASKED ? LEAST_ROWS_UNASKED : rows < MOST_ROWS_UNASKED ? rows : MOST_ROWS_UNASKED;
}

int64_t recording_ring_rows(const struct recording_options *options, int64_t rows, int64_t period_ns)
{
    const int64_t wanted = options->ring_rows;
    if (options->drain == DRAIN_AT_END) {
        if (wanted != 0 && wanted < rows) {
            refuse(EXIT_USAGE, "--drain at-end keeps all %lld rows in memory, --ring allows %lld.\nLeave --ring out.",
                   (long long)rows, (long long)wanted);
            return -1;
        }
        if (rows > most_ring_rows) {
            refuse(EXIT_USAGE, "--drain at-end keeps all %lld rows in memory: at most %lld.\nMeasure fewer, or leave it out.",
                   (long long)rows, (long long)most_ring_rows);
            return -1;
        }
        return rows;
    }
    if (wanted > most_ring_rows) {
        refuse(EXIT_USAGE, "--ring %lld: at most %lld rows.", (long long)wanted, (long long)most_ring_rows);
        return -1;
    }
    const int64_t most = wanted != 0 ? wanted : rows_unasked(options, period_ns);
    return rows < most ? rows : most;
}

struct recorder_options recording_for_recorder(const struct recording_options *options, int64_t ring_rows,
                                               int64_t budget_ns, bool periodic)
{
    return (struct recorder_options){
        .out = options->out,
        .housekeeping = options->housekeeping,
        .record = (enum record_mode)options->record,
        .drain = (enum drain_mode)options->drain,
        .keep_above_ns = options->keep_above_ns,
        .every_ns = options->every_ns,
        .blame = options->blame,
        .ring_rows = (uint64_t)ring_rows,
        .periodic = periodic,
        .progress = options->progress,
        .budget_ns = budget_ns,
    };
}

void recording_to_json(struct json *json, const struct recording_options *options, int64_t ring_rows)
{
    json_text(json, "record", modes[options->record]);
    if (options->keep_above_ns > 0) {
        json_integer(json, "keep_above_ns", options->keep_above_ns);
    }
    if (options->every_ns > 0) {
        json_integer(json, "every_ns", options->every_ns);
    }
    if (options->blame.text != NULL) {
        json_text(json, "blame", options->blame.text);
    }
    json_text(json, "drain", drains[options->drain]);
    json_integer(json, "ring_rows", ring_rows);
    json_boolean(json, "memory_lock", !options->no_memory_lock);
}
