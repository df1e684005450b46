#include "record/late.h"

#include "message.h"
#include "record/recorder_parts.h"

#include <string.h>

enum { FEWEST_FOR_SHARE = 1000, CYCLE_WORDS = 11, LOOK_EVERY_NS = 500000000, EVENT_WORDS = 8 };
_Static_assert(sizeof(struct os_late_event) == EVENT_WORDS * sizeof(int64_t), "a row of late_events");

static const struct measure *measure_of(const struct recorder *recorder)
{
    return &recorder->schema->measures[recorder->schema->late_measure];
}

static struct os_thread_attributes attributes_of(const struct recorder *recorder, uint32_t index)
{
    return recorder->options.thread_of(recorder->options.context, index);
}

/* ---- Beginning and end ----------------------------------------------------- */

static void add_cpu(struct cpu_list *list, int32_t cpu)
{
    uint32_t at = 0;
    while (at < list->count && list->cpus[at] < cpu) {
        at++;
    }
    if ((at < list->count && list->cpus[at] == cpu) || list->count == CPU_LIST_LIMIT) {
        return;
    }
    memmove(&list->cpus[at + 1], &list->cpus[at], (list->count - at) * sizeof list->cpus[0]);
    list->cpus[at] = cpu;
    list->count++;
}

/* Those of the sources; all of them where one may run anywhere. */
static void choose_cpus(const struct recorder *recorder, struct cpu_list *list)
{
    bool anywhere = false;
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        const int32_t cpu = attributes_of(recorder, i).cpu;
        anywhere |= cpu == OS_CPU_ANY;
        if (cpu != OS_CPU_ANY) {
            add_cpu(list, cpu);
        }
    }
    for (int32_t cpu = 0; anywhere && cpu < os_cpu_limit(); cpu++) {
        if (os_cpu_is_online(cpu)) {
            add_cpu(list, cpu);
        }
    }
}

static size_t late_bytes(const struct recorder *recorder)
{
    return sizeof(struct late) + recorder->source_count * sizeof(struct late_source);
}

static enum os_status allocate(struct recorder *recorder)
{
    void *memory = NULL;
    enum os_status status = os_memory_allocate(&memory, late_bytes(recorder));
    if (status != OS_OK) {
        return status;
    }
    struct late *const late = memory;
    recorder->late = late;
    status = os_memory_allocate(&memory, LATE_EVENTS_LIMIT * sizeof *late->events);
    late->events = status == OS_OK ? memory : NULL;
    if (status == OS_OK) {
        status = os_memory_allocate(&memory, LATE_ADDRESSES_LIMIT * sizeof *late->addresses);
        late->addresses = status == OS_OK ? memory : NULL;
    }
    if (status == OS_OK) {
        status = os_memory_allocate(&memory, LATE_STACKS_LIMIT * sizeof *late->stacks);
        late->stacks = status == OS_OK ? memory : NULL;
    }
    for (uint32_t i = 0; i < recorder->source_count && status == OS_OK; i++) {
        struct late_source *const source = &late->sources[i];
        source->worst_ns = INT64_MIN;
        source->thread = NO_VALUE;
        source->threshold_ns = recorder->options.blame.threshold_ns;
        if (source->threshold_ns == 0) {
            source->threshold_ns = INT64_MAX;
            status = os_memory_allocate(&source->memory, histogram_bytes());
            if (status == OS_OK) {
                histogram_begin(&source->histogram, source->memory);
            }
        }
    }
    return status;
}

/* Of the source that is late soonest. */
static void choose_stacks(struct recorder *recorder)
{
    int64_t soonest_ns = INT64_MAX;
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        const int64_t threshold_ns = recorder->late->sources[i].threshold_ns;
        soonest_ns = threshold_ns < soonest_ns ? threshold_ns : soonest_ns;
    }
    os_late_trace_take_stacks(recorder->late->trace, soonest_ns);
}

int late_open(struct recorder *recorder)
{
    if (recorder->options.blame.text == NULL) {
        return EXIT_MEASURED;
    }
    const enum os_status status = allocate(recorder);
    if (status != OS_OK) {
        return refuse(EXIT_FAILED, "no memory to explain late cycles: %s.", os_status_text(status));
    }
    struct late *const late = recorder->late;
    choose_cpus(recorder, &late->cpus);
    const struct os_late_wish wish = {
        .way = (enum os_late_way)recorder->options.blame.way, .cpus = late->cpus.cpus, .cpu_count = late->cpus.count};
    const struct os_answer answer = os_late_trace_open(&late->trace, &wish);
    late->why = answer.why;
    if (answer.availability != OS_PRESENT) {
        late->trace = NULL;
        warn("late cycles are listed without their causes: %s.", answer.why);
        return EXIT_MEASURED;
    }
    choose_stacks(recorder);
    late->cost = late_measure_cost(recorder, late->trace);
    return EXIT_MEASURED;
}

static void free_part(void *memory, size_t bytes)
{
    if (memory != NULL) {
        os_memory_free(memory, bytes);
    }
}

void late_close(struct recorder *recorder)
{
    struct late *const late = recorder->late;
    if (late == NULL) {
        return;
    }
    os_late_trace_close(late->trace);
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        free_part(late->sources[i].memory, histogram_bytes());
    }
    free_part(late->events, LATE_EVENTS_LIMIT * sizeof *late->events);
    free_part(late->addresses, LATE_ADDRESSES_LIMIT * sizeof *late->addresses);
    free_part(late->stacks, LATE_STACKS_LIMIT * sizeof *late->stacks);
    os_memory_free(late, late_bytes(recorder));
    recorder->late = NULL;
}

/* ---- What the system counts ------------------------------------------------ */

static void look(struct recorder *recorder, uint32_t index, int64_t now_ns)
{
    struct late_source *const source = &recorder->late->sources[index];
    const struct os_thread *const thread = recorder->sources[index].thread;
    source->before = source->latest;
    source->latest.at_ns = now_ns;
    if (thread != NULL) { /* it is forgotten when it has ended, and the last rows are still to come */
        source->thread = os_thread_number_of(thread);
    }
    if (recorder->options.number_of != NULL) {
        source->thread = recorder->options.number_of(recorder->options.context, index);
    }
    os_counts_read(&source->latest.counts, thread, attributes_of(recorder, index).cpu);
}

void late_keep_looking(struct recorder *recorder)
{
    for (uint32_t i = 0; i < recorder->source_count && recorder->late != NULL; i++) {
        const int64_t now_ns = os_now_ns();
        if (now_ns - recorder->late->sources[i].latest.at_ns > LOOK_EVERY_NS) {
            look(recorder, i, now_ns);
        }
    }
}

static int64_t difference(int64_t before, int64_t after, bool known)
{
    return known && before != INT64_MIN && after != INT64_MIN ? after - before : NO_VALUE;
}

/* ---- One late cycle -------------------------------------------------------- */

/* Keeps `values` ascending and each of them once. False: it is full. */
static bool insert(uint64_t *values, size_t *count, size_t limit, uint64_t value)
{
    size_t low = 0;
    size_t high = *count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (values[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < *count && values[low] == value) {
        return true;
    }
    if (*count == limit) {
        return false;
    }
    memmove(&values[low + 1], &values[low], (*count - low) * sizeof *values);
    values[low] = value;
    (*count)++;
    return true;
}

static void note_stack(struct late *late, int64_t number)
{
    uint64_t addresses[OS_LATE_STACK_DEPTH];
    for (size_t i = 0; i < late->stack_count; i++) {
        if (late->stacks[i] == number) {
            return;
        }
    }
    const size_t depth = os_late_trace_stack(late->trace, number, addresses);
    if (depth == 0 || late->stack_count == LATE_STACKS_LIMIT) {
        return;
    }
    late->stacks[late->stack_count++] = number;
    for (size_t i = 0; i < depth; i++) {
        (void)insert(late->addresses, &late->address_count, LATE_ADDRESSES_LIMIT, addresses[i]);
    }
}

/* What is told by name at the end. */
static void note_names(struct late *late, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct os_late_event *const event = &late->events[i];
        if (event->kind == OS_LATE_STACK) {
            note_stack(late, event->id);
        } else if (event->address != 0 && event->kind != OS_LATE_SWITCH) {
            (void)insert(late->addresses, &late->address_count, LATE_ADDRESSES_LIMIT, event->address);
        }
    }
}

/* When the thread was last switched to, as far as the events tell. */
static int64_t ran_at(const struct os_late_event *events, size_t count, int64_t thread)
{
    for (size_t i = count; i > 0; i--) {
        if (events[i - 1].kind == OS_LATE_SWITCH && events[i - 1].id == thread) {
            return events[i - 1].time_ns;
        }
    }
    return INT64_MIN;
}

/* The CPU on which a thread that is not bound came to run, or OS_CPU_ANY; and how many events of it were lost, as that
 * those never came into the ring is told once. */
static int32_t find_cpu(struct late *late, int64_t thread, int64_t from_ns, int64_t until_ns, uint64_t *lost)
{
    int32_t found = OS_CPU_ANY;
    int64_t latest_ns = INT64_MIN;
    for (uint32_t i = 0; i < late->cpus.count; i++) {
        const struct os_late_copied copied =
            os_late_trace_copy(late->trace, late->cpus.cpus[i], from_ns, until_ns, late->events, LATE_EVENTS_LIMIT);
        const int64_t at_ns = ran_at(late->events, copied.count, thread);
        if (at_ns > latest_ns) {
            latest_ns = at_ns;
            found = late->cpus.cpus[i];
            *lost = copied.lost;
        }
    }
    return found;
}

/* A thread that took a time stamp on this CPU was switched to there. Where no event tells that, some never came into the
 * ring: Linux 6.18 has been seen to give perf nothing more of what happens while one certain thread has the CPU. */
static bool lacks_own_switch(const struct os_late_event *events, size_t count, int64_t thread)
{
    enum { OWN = sizeof OS_LATE_OWN_THREADS - 1, BITS = 8 };
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        while (same < OWN && (char)(events[i].name[0] >> same * BITS & UINT8_MAX) == OS_LATE_OWN_THREADS[same]) {
            same++;
        }
        if (events[i].kind == OS_LATE_SWITCH && (same == OWN || events[i].id == thread)) {
            return false;
        }
    }
    return true;
}

/* Each switch begins with the thread that the last one ended with: where it does not, one between them never came. */
static uint64_t missing_switches(const struct os_late_event *events, size_t count, int64_t from_ns)
{
    uint64_t missing = 0;
    int64_t on_cpu = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind == OS_LATE_SWITCH) {
            missing += events[i].time_ns >= from_ns && on_cpu != INT64_MIN && events[i].other != on_cpu ? 1 : 0;
            on_cpu = events[i].id;
        }
    }
    return missing;
}

static void write_cycle(struct recorder *recorder, uint16_t index, int64_t from_ns, int64_t until_ns)
{
    struct late *const late = recorder->late;
    struct late_source *const source = &late->sources[index];
    int32_t cpu = attributes_of(recorder, index).cpu;
    struct os_late_copied copied = {0};
    if (late->trace != NULL) {
        uint64_t lost = 0;
        cpu = cpu == OS_CPU_ANY ? find_cpu(late, source->thread, from_ns, until_ns, &lost) : cpu;
        copied = os_late_trace_copy(late->trace, cpu, from_ns, until_ns, late->events, LATE_EVENTS_LIMIT);
        copied.lost = copied.lost < lost ? lost : copied.lost;
        note_names(late, copied.count);
        const bool is_told_whole = copied.lost == 0 && copied.left_out == 0;
        copied.lost += missing_switches(late->events, copied.count, from_ns);
        copied.lost += is_told_whole && lacks_own_switch(late->events, copied.count, source->thread) ? 1 : 0;
    }
    if (source->latest.at_ns < until_ns) {
        look(recorder, index, os_now_ns());
    }
    const struct os_counts *const before = &source->before.counts;
    const struct os_counts *const after = &source->latest.counts;
    const bool known = source->before.at_ns != 0 && source->before.at_ns <= from_ns;
    const int64_t row[CYCLE_WORDS] = {
        from_ns,
        until_ns,
        cpu == OS_CPU_ANY ? NO_VALUE : cpu,
        source->thread,
        (int64_t)copied.count,
        (int64_t)copied.lost,
        (int64_t)copied.left_out,
        source->before.at_ns,
        difference(before->preempted, after->preempted, known),
        difference(before->faults, after->faults, known),
        difference(before->steal_ns, after->steal_ns, known),
    };
    if (stream_write_rows(&recorder->stream, table_of_late_cycles(recorder), index, row, sizeof row)) {
        source->kept++;
        late->kept++;
        late->kept_events += copied.count;
        source->lost_events += copied.lost;
    }
    if (copied.count > 0) {
        stream_write_rows(&recorder->stream, (uint8_t)(table_of_late_cycles(recorder) + 1), index, late->events,
                          copied.count * sizeof late->events[0]);
    }
}

/* The threshold of the rows that come next. */
static void set_threshold(struct recorder *recorder, struct late_source *source)
{
    const int64_t share = recorder->options.blame.share;
    if (source->memory != NULL && source->histogram.total >= FEWEST_FOR_SHARE) {
        /* in parts of 10^9, so that the products fit */
        const int64_t quantile_ns = histogram_quantile(&source->histogram, (uint64_t)(share / BLAME_FINEST_SHARE),
                                                       SHARE_WHOLE / BLAME_FINEST_SHARE);
        source->threshold_ns = quantile_ns < INT64_MAX ? quantile_ns + 1 : INT64_MAX;
        if (recorder->late->trace != NULL) {
            choose_stacks(recorder);
        }
    }
}

void late_look_at(struct recorder *recorder, uint16_t index, const int64_t *rows, uint64_t count)
{
    struct late *const late = recorder->late;
    if (late == NULL || !recorder->streaming) {
        return;
    }
    struct late_source *const source = &late->sources[index];
    const struct measure *const measure = measure_of(recorder);
    set_threshold(recorder, source);
    for (uint64_t i = 0; i < count; i++) {
        const int64_t *const row = rows + i * recorder->schema->column_count;
        const int64_t value_ns = row[measure->to] - row[measure->from];
        if (source->memory != NULL) {
            histogram_add(&source->histogram, value_ns);
        }
        if (value_ns < source->threshold_ns) {
            continue;
        }
        source->late++;
        /* A new worst is rare, and what everybody wants explained: it is kept beyond the limits, too. */
        const bool has_room = late->kept < LATE_CYCLES_LIMIT && late->kept_events < LATE_ALL_EVENTS_LIMIT;
        if (has_room || value_ns > source->worst_ns) {
            write_cycle(recorder, index, row[measure->from], row[measure->to]);
        }
        source->worst_ns = value_ns > source->worst_ns ? value_ns : source->worst_ns;
    }
}

uint64_t late_count(const struct recorder *recorder, uint32_t index)
{
    return recorder->late != NULL ? recorder->late->sources[index].late : 0;
}
