/* What was seen of a child's steps, as JSON: after its end, in the parent. */
#include "explain.h"
#include "os/call_names.h"
#include "os/symbols.h"

#include "format.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_BYTES = 256 };

static const char *const kind_words[EXPLAINED_KINDS] = {"heap", "system", "lock", "thread", "fault"};

static const char *call_name(const struct site *site, char *text, size_t bytes)
{
    const char *const name = site->call < 0 ? site->name : call_name_of(site->call);
    if (name != NULL) {
        return name;
    }
    format_text(text, bytes, "system call %" PRId64, site->call);
    return text;
}

static void frame_to_json(struct json *json, const struct explained *explained, const struct site_frame *frame)
{
    char function[NAME_BYTES];
    uint64_t behind = 0;
    const bool is_known = frame->module < explained->module_count;
    const char *const path = is_known ? explained->modules[frame->module] : "";
    const char *const slash = strrchr(path, '/');
    const bool is_named = is_known && symbol_find(path, frame->at, function, sizeof function, &behind);
    json_open_object(json, NULL);
    json_text(json, "module", slash != NULL ? slash + 1 : path);
    json_text_or_null(json, "function", is_named ? function : NULL);
    json_integer_or_null(json, "behind", is_named ? (int64_t)behind : INT64_MIN);
    json_integer(json, "at", (int64_t)frame->at);
    json_close_object(json);
}

static void site_to_json(struct json *json, const struct explained *explained, const struct site *site)
{
    char name[NAME_BYTES];
    json_open_object(json, NULL);
    json_text(json, "kind", kind_words[site->kind]);
    json_text(json, "call", call_name(site, name, sizeof name));
    json_text(json, "detail", site->detail);
    json_integer(json, "count", site->count);
    json_integer(json, "steps", site->steps);
    json_integer(json, "in_first", site->in_first);
    json_integer(json, "longest_ns", site->longest_ns);
    json_open_array(json, "frames");
    for (uint32_t i = 0; i < site->frame_count; i++) {
        frame_to_json(json, explained, &site->frames[i]);
    }
    json_close_array(json);
    json_close_object(json);
}

void explained_to_json(struct json *json, const struct explained *explained)
{
    json_open_object(json, "absent");
    for (int kind = 0; kind < EXPLAINED_KINDS; kind++) {
        if (explained->absent[kind][0] != '\0') {
            json_text(json, kind_words[kind], explained->absent[kind]);
        }
    }
    json_close_object(json);
    json_integer(json, "lost", explained->lost);
    json_open_array(json, "sites");
    for (uint32_t i = 0; i < explained->site_count; i++) {
        if (explained->sites[i].count != 0 || explained->sites[i].in_first != 0) {
            site_to_json(json, explained, &explained->sites[i]);
        }
    }
    json_close_array(json);
    symbols_close();
}
