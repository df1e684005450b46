#include "experiment/tire_result.h"

#include "message.h"
#include "record/crc32c.h"

#include <inttypes.h>
#include <math.h>

enum { NS_PER_US = 1000 };

enum os_status tire_result_prepare(struct tire_result *result, int64_t nodes)
{
    void *memory = NULL;
    const size_t bytes = 2 * (size_t)nodes * sizeof(double);
    const enum os_status status = os_memory_allocate(&memory, bytes);
    if (status == OS_OK) {
        *result = (struct tire_result){.first = memory, .second = (double *)memory + nodes, .bytes = bytes};
    }
    return status;
}

void tire_result_free(struct tire_result *result)
{
    os_memory_free(result->first, result->bytes);
}

static bool are_finite(const struct tire_result *result)
{
    const size_t count = result->bytes / sizeof(double);
    bool finite = true;
    for (size_t i = 0; i < count; i++) {
        finite &= isfinite(result->first[i]) != 0;
    }
    return finite;
}

static void to_json(struct json *json, const struct tire_result *result, const struct tire_team *team)
{
    json_begin(json);
    json_open_object(json, NULL);
    json_text(json, "event", "result");
    json_integer(json, "time_ns", os_now_ns());
    json_unsigned(json, "steps", team->course.steps);
    json_unsigned(json, "positions_crc32c", result->positions_crc32c);
    json_boolean(json, "finite", result->finite);
    json_open_array(json, "threads");
    for (uint32_t i = 0; i < team->count; i++) {
        json_open_object(json, NULL);
        json_integer(json, "source", i);
        json_integer_or_null(json, "voluntary_switches", team->workers[i].voluntary);
        json_integer_or_null(json, "involuntary_switches", team->workers[i].involuntary);
        json_integer(json, "nodes", tire_nodes_of(team->tire, i));
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

void tire_result_take(struct tire_result *result, const struct tire_team *team)
{
    struct crc32c crc;
    crc32c_prepare(&crc);
    tire_read(team->tire, team->course.steps, result->first, result->second, NULL, NULL);
    result->positions_crc32c = crc32c_of_words(&crc, result->first, result->bytes / sizeof(double));
    result->finite = are_finite(result);
    tire_read(team->tire, team->course.steps, NULL, NULL, result->first, result->second);
    result->finite &= are_finite(result);
    if (team->recorder->streaming) {
        struct json json;
        to_json(&json, result, team);
        stream_write_json(&team->recorder->stream, FRAME_EVENT, &json); /* its failure is told at the end */
        json_free(&json);
    }
}

static void print_switches(const struct tire_team *team)
{
    for (uint32_t i = 0; i < team->count; i++) {
        const struct tire_worker *const worker = &team->workers[i];
        if (worker->voluntary == INT64_MIN) {
            print("%s: switches N/A\n", worker->source->name);
        } else {
            print("%s: %" PRId64 " masses, %" PRId64 " voluntary and %" PRId64 " involuntary switches\n",
                  worker->source->name, tire_nodes_of(team->tire, i), worker->voluntary, worker->involuntary);
        }
    }
}

void tire_result_print(const struct tire_result *result, const struct tire_team *team)
{
    const struct counters *const books = &team->recorder->sources[0].counters;
    const uint64_t steps = team->course.steps;
    if (team->options->pace == TIRE_REAL_TIME) {
        print("%" PRIu64 " of %" PRIu64 " deadlines were missed: %" PRIu64 " steps ended too late, %" PRIu64
              " were not begun\n",
              books->overruns + atomic_load(&books->missed), books->released, books->overruns,
              atomic_load(&books->missed));
    } else {
        const int64_t simulated_us = (int64_t)steps * team->options->parameters.step_ns / NS_PER_US;
        const int64_t elapsed_us = team->course.elapsed_ns / NS_PER_US;
        print("%" PRIu64 " steps, %" PRId64 ".%06" PRId64 " s simulated, in %" PRId64 ".%06" PRId64 " s\n", steps,
              simulated_us / 1000000, simulated_us % 1000000, elapsed_us / 1000000, elapsed_us % 1000000);
    }
    print_switches(team);
    print("positions after %" PRIu64 " steps: CRC32C %" PRIu32 "%s\n", steps, result->positions_crc32c,
          result->finite ? "" : ", and not all of them are finite");
}
