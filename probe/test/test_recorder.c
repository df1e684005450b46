/* What the recorder does beside the measuring threads: how large a day's stream becomes, where memory lies, which rows are
 * late, and who looks after the threads while the output makes the drain wait. */
#include "record/late.h"
#include "record/recorder_parts.h"
#include "test/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MS = 1000000, S_PER_DAY = 86400, MEASURES = 3 };
static const int64_t ns_per_s = 1000000000;

static const struct column columns[] = {{"a_ns", "a", NULL}, {"b_ns", "b", NULL}, {"c_ns", "c", NULL}, {"d_ns", "d", NULL}};
static const struct measure measures[MEASURES] = {{"ab_ns", "b - a", 0, 1}, {"ac_ns", "c - a", 0, 2}, {"ad_ns", "d - a", 0, 3}};
static const struct schema schema = {
    .columns = columns, .column_count = 4, .measure_count = MEASURES, .measures = measures};

static void open_recorder(struct recorder *recorder, const char *out, enum record_mode record, uint64_t rows, uint32_t sources)
{
    const struct recorder_options options = {.out = out, .record = record, .ring_rows = rows};
    struct json header;
    assert_int_equal(recorder_open(recorder, &options, &schema, sources), 0);
    assert_int_equal(recorder_open_output(recorder), 0);
    recorder_header_begin(recorder, &header, "test");
    assert_int_equal(recorder_header_end(recorder, &header), 0);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* From 1 us to 1 ms, as many in each doubling: more bins than latencies fill. */
static int64_t some_latency(uint64_t *random)
{
    const int64_t low = (int64_t)1000 << (next_random(random) % 10);
    return low + (int64_t)(next_random(random) % (uint64_t)low);
}

static void a_day_of_64_cpus_fits_in_100_mb(void **state)
{
    (void)state;
    enum { SOURCES = 64, VALUES = 20000, EVERY_S = 10, ROW_BYTES = 4 * 8, PROGRESS_BYTES_PER_S = 260 };
    static const uint64_t most_bytes = 100000000;
    static struct recorder recorder;
    uint64_t random = 42;
    open_recorder(&recorder, "/dev/null", RECORD_HISTOGRAM, 1024, SOURCES);
    for (uint32_t i = 0; i < SOURCES * MEASURES; i++) {
        for (int k = 0; k < VALUES; k++) {
            histogram_add(&recorder.sources[i / MEASURES].histograms[i % MEASURES], some_latency(&random));
        }
    }
    write_histograms(&recorder);
    const uint64_t at_once = recorder.histogram_bytes; /* as much as any later time, however full the bins */
    assert_true(at_once > 10000000);

    uint64_t histograms = 0;
    uint64_t times = 0;
    for (int64_t at_s = EVERY_S; at_s < S_PER_DAY; at_s += EVERY_S) {
        if (histograms <= histogram_allowance_bytes(at_s * ns_per_s)) {
            histograms += at_once;
            times++;
        }
    }
    histograms += at_once; /* the last one always */
    assert_true(times >= 2);
    const uint64_t others = (uint64_t)S_PER_DAY * PROGRESS_BYTES_PER_S;
    assert_true(histograms + others < most_bytes);
    const uint64_t rows = (most_bytes - histograms - others) / (ROW_BYTES + 24);
    assert_true(rows > 300000); /* that many late cycles have room, each in a frame of its own */
    recorder_abandon(&recorder);
}

static void what_a_source_has_is_zeroed_and_on_a_node_of_its_own(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20, LINE = 512 };
    void *memory = NULL;
    const int32_t node = os_memory_node_of(0);
    assert_true(node >= -1);
    assert_int_equal(os_memory_node_of(OS_CPU_ANY), -1);
    assert_int_equal(os_memory_node_of(1000000), -1);
    assert_int_equal(os_memory_allocate_near(&memory, BYTES, 0), OS_OK);
    for (size_t i = 0; i < BYTES; i++) {
        assert_int_equal(((const uint8_t *)memory)[i], 0);
    }
    char wanted[32];
    char line[LINE];
    char holds[LINE] = ""; /* the last mapping that begins at or before it: they are in order */
    (void)snprintf(wanted, sizeof wanted, " N%d=", (int)node);
    FILE *const maps = fopen("/proc/self/numa_maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if (strtoull(line, NULL, 16) <= (uintptr_t)memory) {
            memcpy(holds, line, sizeof line);
        }
    }
    if (maps != NULL) {
        fclose(maps);
        assert_true(node < 0 || strstr(holds, wanted) != NULL);
    }
    os_memory_free(memory, BYTES);
    assert_int_equal(os_memory_allocate_near(&memory, BYTES, OS_CPU_ANY), OS_OK);
    os_memory_free(memory, BYTES);
}

static struct os_thread_attributes on_first_cpu(const void *context, uint32_t source)
{
    (void)context;
    (void)source;
    return (struct os_thread_attributes){.name = "test", .cpu = 0};
}

static void open_blaming(struct recorder *recorder, const struct blame *blame)
{
    const struct recorder_options options = {
        .out = "/dev/null", .blame = *blame, .ring_rows = 8192, .thread_of = on_first_cpu};
    assert_int_equal(recorder_open(recorder, &options, &schema, 1), 0);
    assert_int_equal(recorder_open_output(recorder), 0);
}

static void push(struct recorder *recorder, int64_t at_ns, int64_t latency_ns)
{
    int64_t *const row = ring_slot(&recorder->sources[0].ring);
    assert_non_null(row);
    row[0] = at_ns;
    row[1] = at_ns + latency_ns;
    row[2] = row[1];
    row[3] = row[1];
    ring_commit(&recorder->sources[0].ring);
}

static void rows_that_reach_the_threshold_are_late(void **state)
{
    (void)state;
    static struct recorder recorder;
    open_blaming(&recorder, &(struct blame){.text = "50us", .threshold_ns = 50000, .way = OS_LATE_PERF});
    for (int i = 0; i < 3000; i++) {
        push(&recorder, os_now_ns() - MS, i % 3 == 0 ? 49999 : 50000 + i);
    }
    drain_source(&recorder, 0);
    const struct late_source *const source = &recorder.late->sources[0];
    assert_int_equal(source->late, 2000);
    assert_int_equal(source->kept, 2000);
    push(&recorder, os_now_ns() - MS, 52000);
    drain_source(&recorder, 0);
    assert_int_equal(source->late, 2001); /* counted, and not kept */
    assert_int_equal(source->kept, LATE_CYCLES_LIMIT);
    push(&recorder, os_now_ns() - MS, 60000);
    drain_source(&recorder, 0);
    assert_int_equal(source->kept, LATE_CYCLES_LIMIT + 1); /* the worst so far */
    assert_false(recorder.stream.failed);
    recorder_abandon(&recorder);
}

static void a_share_of_the_rows_is_late_once_there_are_enough(void **state)
{
    (void)state;
    static struct recorder recorder;
    open_blaming(&recorder, &(struct blame){.text = "99%", .share = SHARE_WHOLE / 100 * 99, .way = OS_LATE_PERF});
    const struct late_source *const source = &recorder.late->sources[0];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 1000; i++) {
            push(&recorder, os_now_ns() - MS, 1000 + i); /* the largest ones are 1 in 100 */
        }
        drain_source(&recorder, 0);
        assert_true(round > 0 || source->late == 0);
    }
    assert_true(source->late >= 20 && source->late <= 40); /* 10 of each 1,000, but for the width of the bins */
    recorder_abandon(&recorder);
}

static void push_and_sleep(void *argument)
{
    struct recorder *const recorder = argument;
    struct source *const source = &recorder->sources[0];
    for (uint64_t i = 0; i < source->ring.capacity; i++) {
        int64_t *const row = ring_slot(&source->ring);
        if (row != NULL) {
            memset(row, 0, 4 * sizeof *row);
            ring_commit(&source->ring);
        }
        source->counters.completed++;
    }
    while (!recorder_stopping(recorder)) {
        os_sleep_until(os_now_ns() + 3600 * ns_per_s); /* until somebody interrupts it */
    }
    source_finish(source);
}

static _Atomic bool has_run;

static void run(void *argument)
{
    recorder_run(argument);
    atomic_store(&has_run, true);
}

static bool comes_true(const _Atomic bool *what)
{
    enum { PATIENCE_S = 60 };
    const int64_t give_up_ns = os_now_ns() + PATIENCE_S * ns_per_s;
    while (!atomic_load(what) && os_now_ns() < give_up_ns) {
        os_sleep_until(os_now_ns() + (int64_t)10 * MS);
    }
    return atomic_load(what);
}

/* The last one: the process is asked to stop. */
static void sources_are_ended_also_while_nobody_reads_the_output(void **state)
{
    (void)state;
    static struct recorder recorder;
    char folder[] = "/tmp/tauto-recorder-XXXXXX";
    char path[64];
    assert_int_equal(os_stop_listen(), OS_OK); /* threads can be interrupted from here on */
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/stream", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    const int reader = open(path, O_RDWR | O_NONBLOCK);
    assert_true(reader >= 0);

    open_recorder(&recorder, path, RECORD_RAW, 65536, 1); /* 2 MB: many times what a pipe holds */
    const struct os_thread_attributes attributes = {.name = "test", .cpu = OS_CPU_ANY};
    struct os_thread *draining = NULL;
    assert_int_equal(os_thread_create(&recorder.sources[0].thread, &attributes, push_and_sleep, &recorder), OS_OK);
    assert_int_equal(os_thread_create(&draining, &attributes, run, &recorder), OS_OK);
    os_sleep_until(os_now_ns() + (int64_t)300 * MS);
    os_stop_request(OS_STOP_INTERRUPTED);
    assert_true(comes_true(&recorder.sources[0].finished));
    assert_false(atomic_load(&has_run)); /* it waits for somebody who reads */

    char bytes[65536];
    while (!atomic_load(&has_run)) {
        if (read(reader, bytes, sizeof bytes) <= 0) {
            os_sleep_until(os_now_ns() + MS);
        }
    }
    os_thread_join(draining);
    assert_int_equal(recorder.sources[0].recorded, 65536);
    recorder_abandon(&recorder);
    close(reader);
    unlink(path);
    rmdir(folder);
}

TESTS(cmocka_unit_test(a_day_of_64_cpus_fits_in_100_mb),
      cmocka_unit_test(what_a_source_has_is_zeroed_and_on_a_node_of_its_own),
      cmocka_unit_test(rows_that_reach_the_threshold_are_late),
      cmocka_unit_test(a_share_of_the_rows_is_late_once_there_are_enough),
      cmocka_unit_test(sources_are_ended_also_while_nobody_reads_the_output))
