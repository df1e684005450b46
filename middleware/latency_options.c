#include "latency.h"

#include "message.h"

#include <inttypes.h>

enum { MOST_CALLS = 10000000, MOST_RATE = 10000 };
static const int64_t ns_per_s = 1000000000;

static const char *const overruns[] = {"replay", "skip", "stop", NULL};
static const char *const phases[] = {"together", "spread", NULL};

int64_t latency_period_ns(const struct latency_options *options, uint32_t number)
{
    return ns_per_s / (number == 0 ? options->rate_high_hz : options->rate_low_hz);
}

/* Within the shorter of both periods, so that where one rate is a multiple of the other no two releases ever meet. */
int64_t latency_offset_ns(const struct latency_options *options, uint32_t number)
{
    if (options->phase == PHASE_TOGETHER) {
        return 0;
    }
    const int64_t high_ns = latency_period_ns(options, 0);
    const int64_t low_ns = latency_period_ns(options, 1);
    return (high_ns < low_ns ? high_ns : low_ns) * number / (options->clients + 1);
}

int64_t latency_releases(const struct latency_options *options, uint32_t number)
{
    if (number > 0) {
        return options->calls;
    }
    if (options->clients == 0) {
        return 2 * options->calls;
    }
    const int64_t longest_ns = (options->calls + 1) * (latency_period_ns(options, 1) + options->ends.patience_ns);
    return longest_ns / latency_period_ns(options, 0) + 1;
}

int64_t latency_rows(const struct latency_options *options)
{
    if (options->clients == 0) {
        return 2 * options->calls;
    }
    const int64_t high = (options->calls + 1) * latency_period_ns(options, 1) / latency_period_ns(options, 0) + 1;
    return high > options->calls ? high : options->calls;
}

static bool check(const struct latency_options *options)
{
    if (options->clients >= SERVANTS_LIMIT) {
        refuse(EXIT_USAGE, "--clients: at most %d low ones beside C0.", SERVANTS_LIMIT - 1);
        return false;
    }
    if (options->calls < 1 || options->calls > MOST_CALLS || options->warmup > MOST_CALLS) {
        refuse(EXIT_USAGE, "--calls must lie between 1 and %d, and --warmup at most there.", MOST_CALLS);
        return false;
    }
    if (options->rate_high_hz < 1 || options->rate_high_hz > MOST_RATE) {
        refuse(EXIT_USAGE, "--rate-high must lie between 1 and %d calls a second.", MOST_RATE);
        return false;
    }
    if (options->rate_low_hz < 1 || options->rate_low_hz > MOST_RATE) {
        refuse(EXIT_USAGE, "--rate-low must lie between 1 and %d calls a second.", MOST_RATE);
        return false;
    }
    return true;
}

/* Each client has a priority of its own. */
static bool check_levels(const struct latency_options *options)
{
    const enum os_policy policy = (enum os_policy)options->ends.policy;
    const int32_t levels = os_priority_levels(policy);
    if (levels != 0 && options->clients >= levels) {
        refuse(EXIT_USAGE,
               "--clients %" PRId64 ": C0 and so many below it need %" PRId64 " priorities, and policy %s has %d here.\n"
               "At most %d low ones, or --policy other, which has none.",
               options->clients, options->clients + 1, os_policy_name(policy), (int)levels, (int)levels - 1);
        return false;
    }
    return true;
}

bool latency_options_read(struct latency_options *options, int argc, char **argv, int *code)
{
    *options = (struct latency_options){
        .ends = ends_options_default(),
        .clients = 9,
        .calls = 4000,
        .warmup = 10,
        .rate_high_hz = 20,
        .rate_low_hz = 10,
    };
    struct option table[] = {
        {"clients", OPTION_COUNT, &options->clients, NULL, "low ones beside C0, each a priority below the last [9]",
         false},
        {"calls", OPTION_COUNT, &options->calls, NULL, "of each low client; of C0 alone twice as many [4000]", false},
        {"rate-high", OPTION_RATE, &options->rate_high_hz, NULL, "calls a second of C0 [20]", false},
        {"rate-low", OPTION_RATE, &options->rate_low_hz, NULL, "calls a second of each low client [10]", false},
        {"phase", OPTION_CHOICE, &options->phase, phases, "released together, or spread over a period [together]", false},
        {"overrun", OPTION_CHOICE, &options->overrun, overruns, "what becomes of releases that come meanwhile [replay]",
         false},
        {"one-way", OPTION_FLAG, &options->one_way, NULL, "the servant's clock too: request and reply apart", false},
        {"warmup", OPTION_COUNT, &options->warmup, NULL, "calls of each client before, not recorded [10]", false},
        ENDS_OPTIONS(&options->ends),
    };
    const size_t count = sizeof table / sizeof table[0];
    if (!options_read_or_help(table, count, argc, argv,
                              "usage: tauto-probe middleware-latency --transport NAME [options]\n\nHow long calls of the "
                              "highest-priority client take beside those of lower-priority ones.\n\n",
                              code)) {
        return false;
    }
    *code = EXIT_USAGE;
    return check(options) && check_levels(options) &&
           ends_options_check(&options->ends, (int32_t)options->clients + 1, code);
}

void latency_options_to_json(struct json *json, const struct latency_options *options, int64_t ring_rows,
                             const struct server_seen *server)
{
    json_open_object(json, "parameters");
    ends_to_json(json, &options->ends, server);
    json_integer(json, "clients", options->clients);
    json_integer(json, "calls", options->calls);
    json_integer(json, "rate_high_hz", options->rate_high_hz);
    json_integer(json, "rate_low_hz", options->rate_low_hz);
    json_text(json, "phase", phases[options->phase]);
    json_text(json, "overrun", overruns[options->overrun]);
    json_boolean(json, "one_way", options->one_way);
    json_integer(json, "warmup", options->warmup);
    recording_to_json(json, &options->ends.conditions.recording, ring_rows);
    json_close_object(json);
}
