#include "experiment/response_options.h"

#include "message.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

static const char *const waiters[] = {"above", "same", "below", NULL};

static const int64_t longest_period_ns = 3600000000000;
static const int64_t most_repetitions = 1000000;
static const int64_t most_samples = 1000000000;
static const int64_t most_bytes = 1 << 20;

static struct response_options usual_options(void)
{
    struct response_options options = {
        .mechanisms_text = "all",
        .period_ns = 10000000,
        .bytes = 8,
        .repetitions = 50,
        .stage = stage_options_default(10, 10),
    };
    return options;
}

/* What one system or another has: where this one has not, it is a row that says so, and no mistake of the user's. */
static const char *const known_names[] = {"semaphore", "fifo",    "pipe",  "message-queue", "unix",
                                          "udp",       "eventfd", "futex", "signal",        "condition"};
enum { KNOWN_NAMES = sizeof known_names / sizeof known_names[0] };

static const struct os_channel_kind *kind_of(const char *name, size_t length)
{
    for (const struct os_channel_kind *const *kind = os_channel_kinds; *kind != NULL; kind++) {
        if (strlen((*kind)->name) == length && strncmp((*kind)->name, name, length) == 0) {
            return *kind;
        }
    }
    return NULL;
}

static const char *known_name(const char *name, size_t length)
{
    for (size_t i = 0; i < KNOWN_NAMES; i++) {
        if (strlen(known_names[i]) == length && strncmp(known_names[i], name, length) == 0) {
            return known_names[i];
        }
    }
    return NULL;
}

static void refuse_name(const struct response_options *options)
{
    struct text names = {0};
    for (const struct os_channel_kind *const *kind = os_channel_kinds; *kind != NULL; kind++) {
        text_add_string(&names, (*kind)->name);
        text_add_string(&names, ", ");
    }
    refuse(EXIT_USAGE, "--mechanisms %s: choose from %sjoined by commas, or all.", options->mechanisms_text,
           text_string(&names));
    text_free(&names);
}

static bool is_among(const struct response_options *options, const char *name)
{
    bool found = false;
    for (uint32_t i = 0; i < options->kind_count; i++) {
        found = found || strcmp(options->kinds[i]->name, name) == 0;
    }
    for (uint32_t i = 0; i < options->lacking_count; i++) {
        found = found || strcmp(options->lacking[i], name) == 0;
    }
    return found;
}

static bool add_kind(struct response_options *options, const char *name, size_t length)
{
    const struct os_channel_kind *const kind = kind_of(name, length);
    const char *const known = kind != NULL ? kind->name : known_name(name, length);
    if (known == NULL || options->kind_count + options->lacking_count == RESPONSE_KINDS_LIMIT) {
        refuse_name(options);
        return false;
    }
    if (is_among(options, known)) {
        refuse(EXIT_USAGE, "--mechanisms names %s twice.", known);
        return false;
    }
    if (kind != NULL) {
        options->kinds[options->kind_count++] = kind;
    } else {
        options->lacking[options->lacking_count++] = known;
    }
    return true;
}

static bool add_all(struct response_options *options)
{
    bool added = true;
    for (const struct os_channel_kind *const *kind = os_channel_kinds; *kind != NULL && added; kind++) {
        added = add_kind(options, (*kind)->name, strlen((*kind)->name));
    }
    for (size_t i = 0; i < KNOWN_NAMES && added; i++) {
        added = is_among(options, known_names[i]) || add_kind(options, known_names[i], strlen(known_names[i]));
    }
    return added;
}

static bool choose_kinds(struct response_options *options)
{
    if (strcmp(options->mechanisms_text, "all") == 0) {
        return add_all(options);
    }
    for (const char *at = options->mechanisms_text;;) {
        const size_t length = strcspn(at, ",");
        if (!add_kind(options, at, length)) {
            return false;
        }
        if (at[length] == '\0') {
            return true;
        }
        at += length + 1;
    }
}

/* Too large for a mechanism is refused here, so that a row is never missing for a reason that the user can change. */
static bool check_bytes(const struct response_options *options, bool given)
{
    bool carried = false;
    if (options->bytes < 1 || options->bytes > most_bytes) {
        refuse(EXIT_USAGE, "--bytes must lie between 1 and %" PRId64 ".", most_bytes);
        return false;
    }
    for (uint32_t i = 0; i < options->kind_count; i++) {
        const struct os_channel_kind *const kind = options->kinds[i];
        struct os_channel *channel = NULL;
        const char *why = "";
        const char *how_to_raise = "";
        if (kind->most_bytes == NULL) {
            continue;
        }
        carried = true;
        const size_t most = os_channel_most_bytes(kind, &how_to_raise);
        const enum os_status status = os_channel_create(&channel, kind, (size_t)options->bytes, &why);
        if (status == OS_OK) {
            os_channel_destroy(channel);
        } else if (options->bytes > (int64_t)most || status == OS_INVALID) {
            refuse(EXIT_USAGE, "--bytes %" PRId64 ": %s takes at most %lld here (%s).\n"
                               "%s Or send less, or leave %s out of --mechanisms.",
                   options->bytes, kind->name, (long long)most, why, how_to_raise, kind->name);
            return false;
        }
    }
    if (given && !carried) {
        refuse(EXIT_USAGE, "--bytes: none of --mechanisms %s carries data, they only wake.\nLeave it out.",
               options->mechanisms_text);
        return false;
    }
    return true;
}

static bool check_counts(struct response_options *options)
{
    if (options->period_ns != 0 &&
        (options->period_ns < OS_SHORTEST_PERIOD_NS || options->period_ns > longest_period_ns)) {
        refuse(EXIT_USAGE, "--period must lie between 10us and 1h, or be 0s for exchanges back to back.");
        return false;
    }
    if (options->repetitions < 1 || options->repetitions > most_repetitions) {
        refuse(EXIT_USAGE, "--repetitions must lie between 1 and %" PRId64 ".", most_repetitions);
        return false;
    }
    options->exchanges = options->stage.count;
    if (options->exchanges > most_samples / options->repetitions) {
        refuse(EXIT_USAGE, "--repetitions times --count must be at most %" PRId64 ".", most_samples);
        return false;
    }
    options->stage.count = options->exchanges * options->repetitions;
    return true;
}

static bool check_waiter(struct response_options *options, bool given)
{
    const enum os_policy policy = (enum os_policy)options->stage.policy;
    const int32_t levels = os_priority_levels(policy);
    if (levels == 0) {
        if (given && options->waiter != WAITER_SAME) {
            refuse(EXIT_USAGE, "--waiter %s contradicts --policy %s, which has no priorities.\nLeave one out.",
                   waiters[options->waiter], os_policy_name(policy));
            return false;
        }
        options->waiter = WAITER_SAME;
        return true;
    }
    if (options->waiter != WAITER_SAME && options->stage.below_highest + 2 > levels) {
        refuse(EXIT_USAGE, "--priority %" PRId64 " is the lowest of policy %s, and --waiter %s needs one below it.",
               options->stage.priority, os_policy_name(policy), waiters[options->waiter]);
        return false;
    }
    return true;
}

bool response_options_read(struct response_options *options, int argc, char **argv, int *code)
{
    *options = usual_options();
    struct option table[] = {
        {"mechanisms", OPTION_TEXT, &options->mechanisms_text, NULL, "semaphore,fifo,… or all [all]", false},
        {"period", OPTION_PERIOD, &options->period_ns, NULL, "of task 1; 0s: back to back [10ms]", false},
        {"bytes", OPTION_COUNT, &options->bytes, NULL, "of a message, where one is carried", false},
        {"repetitions", OPTION_COUNT, &options->repetitions, NULL, "times --count, each on new channels", false},
        {"waiter", OPTION_CHOICE, &options->waiter, waiters, "priority of task 2 beside task 1 [above]", false},
        {"rehearse", OPTION_FLAG, &options->rehearse, NULL, "before each exchange one that is not recorded", false},
        STAGE_OPTIONS(&options->stage),
    };
    const size_t count = sizeof table / sizeof table[0];
    if (!stage_options_read(&options->stage, table, count, argc, argv,
                            "usage: tauto-probe response [options]\n\n"
                            "Response time of each way to wake or tell a task (koh2013): task 1 sends, task 2\n"
                            "receives and answers. Here --count and --warmup are those of each repetition.\n\n",
                            1, code)) {
        return false;
    }
    *code = EXIT_USAGE;
    return choose_kinds(options) && check_counts(options) &&
           check_waiter(options, options_given("waiter")) &&
           check_bytes(options, options_given("bytes"));
}

void response_options_to_json(struct json *json, const struct response_options *options)
{
    json_text(json, "mechanisms", options->mechanisms_text);
    json_integer(json, "period_ns", options->period_ns);
    json_integer(json, "bytes", options->bytes);
    json_integer(json, "repetitions", options->repetitions);
    json_integer(json, "exchanges", options->exchanges);
    json_text(json, "waiter", waiters[options->waiter]);
    json_boolean(json, "rehearse", options->rehearse);
}
