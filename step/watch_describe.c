/* What is told of a program and its loops: in the header, in an event, in words. */
#include "watch.h"

#include "format.h"
#include "message.h"
#include "os/identity.h"

#include <inttypes.h>
#include <string.h>

uint32_t watch_claimed(const struct watch_run *run, uint32_t places[WATCH_LOOPS_LIMIT])
{
    enum { FEWEST_STEPS = 3 };
    const uint64_t claimed = __atomic_load_n(&run->memory->claimed, __ATOMIC_ACQUIRE);
    uint32_t count = 0;
    for (uint32_t i = 0; i < WATCH_LOOPS_LIMIT; i++) {
        const struct tautochrone_loop *const loop = watch_loop(run, i);
        const bool is_one = run->options->from_outside ? __atomic_load_n(&loop->written, __ATOMIC_ACQUIRE) >= FEWEST_STEPS &&
                                                             __atomic_load_n(&loop->process, __ATOMIC_ACQUIRE) != 0
                                                       : i < claimed;
        if (is_one) {
            places[count++] = i;
        }
    }
    return count;
}

static uint64_t left_out(const struct watch_run *run)
{
    uint32_t places[WATCH_LOOPS_LIMIT];
    return watch_claimed(run, places) - run->loop_count + run->memory->refused;
}

void watch_tell_end(struct watch_run *run, const char *when)
{
    enum { NOT_FOUND = 127, CPU_TIME = 24 };
    const struct step_ending *const ending = &run->ending;
    if (ending->by_signal) {
        format_text(run->failure, sizeof run->failure, "%s was ended by signal %d (%s)%s.%s", run->name, ending->value,
                    ending->signal, when,
                    ending->value == CPU_TIME ? " A real-time thread of it ran past --budget without once sleeping." : "");
    } else if (ending->value == NOT_FOUND && run->loop_count == 0) {
        format_text(run->failure, sizeof run->failure, "%s: the shell can't start it.", run->name);
    } else if (ending->value != EXIT_MEASURED) {
        format_text(run->failure, sizeof run->failure, "%s ended with exit code %d%s.", run->name, ending->value, when);
    }
}

void watch_name_source(struct watch_run *run, uint32_t number)
{
    const struct tautochrone_loop *const loop = run->loops[number].loop;
    struct source *const source = &run->recorder.sources[number];
    size_t used = 0;
    for (; used + 1 < sizeof source->name && used < sizeof loop->name && loop->name[used] != '\0'; used++) {
        const char letter = loop->name[used];
        source->name[used] = (char)(letter >= ' ' && letter <= '~' ? letter : '?');
    }
    source->name[used] = '\0';
    for (uint32_t i = 0; i < number; i++) {
        if (used == 0 || strcmp(run->recorder.sources[i].name, source->name) == 0) {
            enum { ROOM = 8 };
            const size_t at = used < sizeof source->name - ROOM ? used : sizeof source->name - ROOM;
            format_text(source->name + at, ROOM, " %" PRIu32, number + 1);
            return;
        }
    }
}

static void write_source(struct watch_run *run, struct json *json, uint32_t number)
{
    const struct tautochrone_loop *const loop = run->loops[number].loop;
    const struct os_thread_attributes attributes = watch_attributes(run->options);
    struct os_thread_obtained obtained;
    json_open_object(json, NULL);
    recorder_source_to_json(&run->recorder, json, number);
    json_integer(json, "thread", (int64_t)(loop->thread & INT32_MAX));
    if (run->program.is_ranked) {
        requested_to_json(json, &attributes);
    }
    if (!run->has_ended) {
        os_thread_read_back_of((int64_t)(loop->thread & INT32_MAX), &obtained);
        obtained_to_json(json, attributes.policy, &obtained);
    }
    json_close_object(json);
}

/* When the first step began that is there already, or its release, so that nothing recorded is before the start. */
static int64_t started_ns(const struct watch_run *run)
{
    int64_t found_ns = os_now_ns();
    for (uint32_t i = 0; i < run->loop_count; i++) {
        const struct watched *const watched = &run->loops[i];
        const struct tautochrone_row *const row = &TAUTOCHRONE_ROWS_OF(watched->loop)[watched->read & (run->rows - 1)];
        if (__atomic_load_n(&watched->loop->written, __ATOMIC_ACQUIRE) != watched->read) {
            const int64_t at_ns = row->release_ns != 0 && row->release_ns < row->begin_ns ? row->release_ns : row->begin_ns;
            found_ns = at_ns < found_ns ? at_ns : found_ns;
        }
    }
    return found_ns;
}

int watch_write_header(struct watch_run *run)
{
    struct json json;
    run->recorder.started_ns = started_ns(run);
    recorder_header_begin(&run->recorder, &json, "watch");
    watch_options_to_json(&json, run->options, (int64_t)run->rows);
    json_open_array(&json, "sources");
    for (uint32_t i = 0; i < run->loop_count; i++) {
        write_source(run, &json, i);
    }
    json_close_array(&json);
    return recorder_header_end(&run->recorder, &json);
}

void watch_write_event(struct watch_run *run)
{
    struct json json;
    if (!run->recorder.streaming) {
        return;
    }
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "event", "watch");
    json_integer(&json, "time_ns", os_now_ns());
    if (run->failure[0] != '\0') {
        json_text(&json, "why", run->failure);
    }
    const bool is_known = run->options->pid == 0 && !run->is_left; /* whose child it is not, nobody is told */
    json_integer_or_null(&json, "signal", is_known && run->ending.by_signal ? run->ending.value : INT64_MIN);
    json_integer_or_null(&json, "exit_code", !is_known || run->ending.by_signal ? INT64_MIN : run->ending.value);
    json_boolean(&json, "by_itself", run->end == WATCH_ENDED);
    json_unsigned(&json, "loops_left_out", left_out(run));
    json_open_array(&json, "loops");
    for (uint32_t i = 0; i < run->loop_count; i++) {
        json_open_object(&json, NULL);
        json_integer(&json, "source", i);
        json_unsigned(&json, "irregular", run->loops[i].loop->irregular);
        json_unsigned(&json, "backwards", run->loops[i].backwards);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    stream_write_json(&run->recorder.stream, FRAME_EVENT, &json);
    json_free(&json);
}

void watch_warn(const struct watch_run *run)
{
    const uint64_t others = left_out(run);
    if (others != 0) {
        warn("%s: %" PRIu64 " of its loops were not recorded: they began too late, or were more than %d. --loops says how "
             "many to wait for.",
             run->name, others, WATCH_LOOPS_LIMIT);
    }
    for (uint32_t i = 0; i < run->loop_count; i++) {
        const struct watched *const watched = &run->loops[i];
        if (watched->loop->irregular != 0) {
            warn("%s, loop %s: %" PRIu64 " times %s did not alternate.", run->name, run->recorder.sources[i].name,
                 watched->loop->irregular,
                 run->options->from_outside ? "the probes of begin and end" : "TAUTO_BEGIN and TAUTO_END of one k");
        }
    }
}
