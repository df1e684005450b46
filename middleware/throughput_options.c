#include "throughput.h"

#include "format.h"
#include "message.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_COUNT = 100000000, NS_PER_MS = 1000000 };
static const int64_t ns_per_s = 1000000000;

static const char usual_types[] = "void,octet,short,long,double,struct,longs,octets";
static const char usual_lengths[] = "1,4,16,64,256,1024,4096,16384";
static const char *const directions[] = {"both", "two-way", "one-way", NULL};

/* The part of a list before the next comma, behind which `list` is moved; at the end of the list it becomes NULL. */
static size_t next_part(const char **list, const char **part)
{
    *part = *list;
    const size_t length = strcspn(*list, ",");
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
    return length;
}

static bool is_among(const uint32_t *lengths, uint32_t count, int64_t length)
{
    for (uint32_t i = 0; i < count; i++) {
        if (lengths[i] == length) {
            return true;
        }
    }
    return false;
}

static bool read_lengths(const char *text, uint32_t *lengths, uint32_t *count)
{
    *count = 0;
    const char *part = NULL;
    for (const char *rest = text; rest != NULL;) {
        const size_t length = next_part(&rest, &part);
        int64_t number = 0;
        for (size_t i = 0; i < length && number <= VALUE_LENGTH_LIMIT; i++) {
            number = part[i] >= '0' && part[i] <= '9' ? 10 * number + (part[i] - '0') : INT32_MAX;
        }
        if (length == 0 || number < 1 || number > VALUE_LENGTH_LIMIT || *count == LENGTHS_LIMIT ||
            is_among(lengths, *count, number)) {
            break;
        }
        lengths[(*count)++] = (uint32_t)number;
        if (rest == NULL) {
            return true;
        }
    }
    refuse(EXIT_USAGE, "--lengths %s: write up to %d numbers of elements, 1 to %d each, joined by commas, each once.", text,
           LENGTHS_LIMIT, VALUE_LENGTH_LIMIT);
    return false;
}

static bool kind_named(const char *name, size_t length, enum value_kind *kind)
{
    for (int i = VALUE_VOID; i < VALUE_TIMED; i++) {
        const char *const known = value_kind_name((enum value_kind)i);
        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            *kind = (enum value_kind)i;
            return true;
        }
    }
    return false;
}

static void add_row(struct throughput_options *options, bool one_way, enum value_kind kind, uint32_t length)
{
    const uint64_t bytes = value_bytes(kind, length);
    const bool fits = the_transport.most_bytes == 0 || bytes <= the_transport.most_bytes;
    struct throughput_row *const row =
        fits ? &options->rows[options->row_count++] : &options->too_large[options->too_large_count++];
    *row = (struct throughput_row){.one_way = one_way, .kind = kind, .length = length};
    const char *const direction = directions[one_way ? DIRECTION_ONE_WAY : DIRECTION_TWO_WAY];
    if (value_is_sequence(kind)) {
        format_text(row->name, sizeof row->name, "%s %s %" PRIu32, direction, value_kind_name(kind), length);
        options->longest = fits && bytes > options->longest ? (uint32_t)bytes : options->longest;
    } else {
        format_text(row->name, sizeof row->name, "%s %s", direction, value_kind_name(kind));
    }
}

static bool add_rows(struct throughput_options *options, bool one_way, const uint32_t *lengths, uint32_t length_count)
{
    const char *part = NULL;
    bool seen[VALUE_KINDS] = {false};
    for (const char *rest = options->types_text; rest != NULL;) {
        const size_t length = next_part(&rest, &part);
        enum value_kind kind = VALUE_VOID;
        if (!kind_named(part, length, &kind) || seen[kind]) {
            refuse(EXIT_USAGE, "--types %s: write some of %s, joined by commas, each once.", options->types_text,
                   usual_types);
            return false;
        }
        seen[kind] = true;
        for (uint32_t i = 0; i < (value_is_sequence(kind) ? length_count : 1); i++) {
            add_row(options, one_way, kind, value_is_sequence(kind) ? lengths[i] : 0);
        }
    }
    return true;
}

static bool choose_rows(struct throughput_options *options)
{
    uint32_t lengths[LENGTHS_LIMIT];
    uint32_t count = 0;
    if (!read_lengths(options->lengths_text, lengths, &count)) {
        return false;
    }
    if ((options->direction != DIRECTION_ONE_WAY && !add_rows(options, false, lengths, count)) ||
        (options->direction != DIRECTION_TWO_WAY && !add_rows(options, true, lengths, count))) {
        return false;
    }
    if (options->row_count == 0) {
        refuse(EXIT_USAGE, "--lengths %s: nothing is left to measure.\n"
                           "%s carries at most %" PRIu64 " bytes at a time. Give "
                           "shorter ones, or take another transport.",
               options->lengths_text, the_transport.title, the_transport.most_bytes);
    }
    return options->row_count > 0;
}

static bool check(const struct throughput_options *options)
{
    if (options->count < 1 || options->count > MOST_COUNT || options->warmup > MOST_COUNT) {
        refuse(EXIT_USAGE, "--count must lie between 1 and %d, and --warmup at most there.", MOST_COUNT);
        return false;
    }
    if (options->row_limit_ns < 10LL * NS_PER_MS) {
        refuse(EXIT_USAGE, "--row-limit must be 10ms at least.");
        return false;
    }
    return true;
}

bool throughput_options_read(struct throughput_options *options, int argc, char **argv, int *code)
{
    *options = (struct throughput_options){
        .ends = ends_options_default(),
        .types_text = usual_types,
        .lengths_text = usual_lengths,
        .count = 10000,
        .warmup = 100,
        .row_limit_ns = 5 * ns_per_s,
    };
    struct option table[] = {
        {"types", OPTION_TEXT, &options->types_text, NULL, "what is cubed, joined by commas [all]", false},
        {"lengths", OPTION_TEXT, &options->lengths_text, NULL, "of sequences [1,4,16,64,256,1024,4096,16384]", false},
        {"directions", OPTION_CHOICE, &options->direction, directions, "calls with an answer, without, or both [both]",
         false},
        {"count", OPTION_COUNT, &options->count, NULL, "recorded calls of each row [10000]", false},
        {"warmup", OPTION_COUNT, &options->warmup, NULL, "calls before those, not recorded [100]", false},
        {"row-limit", OPTION_DURATION, &options->row_limit_ns, NULL, "a row ends after so long, whatever its count [5s]", false},
        ENDS_OPTIONS(&options->ends),
    };
    const size_t count = sizeof table / sizeof table[0];
    if (!options_read_or_help(table, count, argc, argv,
                              "usage: tauto-probe middleware-throughput --transport NAME [options]\n\nCalls a servant at "
                              "full speed, which cubes what it gets.\n\n",
                              code)) {
        return false;
    }
    if (!check(options) || !choose_rows(options)) {
        return false;
    }
    return ends_options_check(&options->ends, 1, code);
}

static void row_to_json(struct json *json, const struct throughput_row *row)
{
    json_open_object(json, NULL);
    json_text(json, "direction", directions[row->one_way ? DIRECTION_ONE_WAY : DIRECTION_TWO_WAY]);
    json_text(json, "type", value_kind_name(row->kind));
    json_unsigned(json, "length", row->length);
    json_unsigned(json, "bytes", value_bytes(row->kind, row->length));
    json_close_object(json);
}

void throughput_options_to_json(struct json *json, const struct throughput_options *options, int64_t ring_rows,
                                const struct server_seen *server)
{
    json_open_object(json, "parameters");
    ends_to_json(json, &options->ends, server);
    json_integer(json, "count", options->count);
    json_integer(json, "warmup", options->warmup);
    json_integer(json, "row_limit_ns", options->row_limit_ns);
    recording_to_json(json, &options->ends.conditions.recording, ring_rows);
    json_open_array(json, "rows");
    for (uint32_t i = 0; i < options->row_count; i++) {
        row_to_json(json, &options->rows[i]);
    }
    json_close_array(json);
    json_close_object(json);
}
