#include "experiment/recording_options.h"

#include "message.h"

#include <inttypes.h>

const char *const recording_modes[] = {"raw", "histogram", NULL};
const char *const recording_drains[] = {"live", "at-end", NULL};

enum { DEFAULT_RING_ROWS = 262144 };
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

int64_t recording_ring_rows(const struct recording_options *options, int64_t rows)
{
    const int64_t wanted = options->ring_rows;
    if (options->drain == DRAIN_AT_END) {
        if (wanted != 0 && wanted < rows) {
            refuse(EXIT_USAGE, "--drain at-end keeps all %lld rows in memory, --ring allows %lld.\nLeave --ring out.",
                   (long long)rows, (long long)wanted);
            return -1;
        }
        return rows;
    }
    if (wanted > most_ring_rows) {
        refuse(EXIT_USAGE, "--ring %lld: at most %lld rows.", (long long)wanted, (long long)most_ring_rows);
        return -1;
    }
    const int64_t most = wanted != 0 ? wanted : DEFAULT_RING_ROWS;
    return rows < most ? rows : most;
}

struct recorder_options recording_for_recorder(const struct recording_options *options, int64_t ring_rows,
                                               int64_t budget_ns, bool periodic)
{
    return (struct recorder_options){
        .out = options->out,
        .record = (enum record_mode)options->record,
        .drain = (enum drain_mode)options->drain,
        .ring_rows = (uint64_t)ring_rows,
        .periodic = periodic,
        .progress = options->progress,
        .budget_ns = budget_ns,
    };
}

void recording_to_json(struct json *json, const struct recording_options *options, int64_t ring_rows)
{
    json_text(json, "record", recording_modes[options->record]);
    json_text(json, "drain", recording_drains[options->drain]);
    json_integer(json, "ring_rows", ring_rows);
    json_boolean(json, "memory_lock", !options->no_memory_lock);
}
