#include "footprint.h"

#include "message.h"

enum { MOST_CALLS = 1000000 };

static bool check(const struct footprint_options *options)
{
    if (options->servants < 1 || options->servants > SERVANTS_LIMIT) {
        refuse(EXIT_USAGE, "--servants must lie between 1 and %d.", SERVANTS_LIMIT);
        return false;
    }
    if (options->calls < 1 || options->calls > MOST_CALLS) {
        refuse(EXIT_USAGE, "--calls must lie between 1 and %d.", MOST_CALLS);
        return false;
    }
    return true;
}

/* Locked memory is resident to its last page, whether anybody needs it or not: it would be measured instead of what the
 * server uses. So here it has to be asked for. */
static bool choose_memory(struct footprint_options *options, bool locked)
{
    bool *const pageable = &options->ends.conditions.recording.no_memory_lock;
    if (locked && *pageable) {
        refuse(EXIT_USAGE, "--memory-lock contradicts --no-memory-lock, which is usual here.\nLeave one out.");
        return false;
    }
    *pageable = !locked;
    return true;
}

bool footprint_options_read(struct footprint_options *options, int argc, char **argv, int *code)
{
    bool memory_lock = false;
    *options = (struct footprint_options){.ends = ends_options_default(), .servants = 50, .calls = 10};
    struct option table[] = {
        {"servants", OPTION_COUNT, &options->servants, NULL, "of the server, each with a thread that serves it [50]", false},
        {"calls", OPTION_COUNT, &options->calls, NULL, "to each servant [10]", false},
        {"memory-lock", OPTION_FLAG, &memory_lock, NULL, "lock memory at both ends [pageable]", false},
        ENDS_OPTIONS(&options->ends),
    };
    const size_t count = sizeof table / sizeof table[0];
    if (!options_read_or_help(table, count, argc, argv,
                              "usage: tauto-probe middleware-footprint --transport NAME [options]\n\nReads the memory of a "
                              "server when it has started, is connected, and has served.\n\n",
                              code)) {
        return false;
    }
    if (!check(options) || !choose_memory(options, memory_lock)) {
        return false;
    }
    return ends_options_check(&options->ends, (int32_t)options->servants, code);
}

void footprint_options_to_json(struct json *json, const struct footprint_options *options, int64_t ring_rows,
                               const struct server_seen *server)
{
    json_open_object(json, "parameters");
    ends_to_json(json, &options->ends, server);
    json_integer(json, "servants", options->servants);
    json_integer(json, "calls", options->calls);
    recording_to_json(json, &options->ends.conditions.recording, ring_rows);
    json_close_object(json);
}
