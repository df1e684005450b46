#include "late_perf_ring.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* From linux/perf_event.h, which not every C library brings along. */
enum { PERF_RECORD_SAMPLE = 9, HEAD_AT = 1024 };
struct record_head {
    uint32_t type;
    uint16_t misc;
    uint16_t bytes;
};
struct sample { /* PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_TIME, PERF_SAMPLE_RAW */
    struct record_head record;
    uint64_t number;
    int64_t time_ns;
    uint32_t length; /* of the event's fields, which follow at once */
};
enum { FIELDS_AT = 28 };

enum {
    PIECE_BYTES = 256 * 1024,
    UNSURE_BYTES = 16 * 1024, /* the oldest: records that are being written just now lie over them already */
    SHORTEST_RECORD = 40,
    DISORDER = 8, /* records that an interrupt may have put before the one that it interrupted */
};

enum os_status late_view_create(struct late_view *view, const struct late_layout *layouts, size_t ring_bytes)
{
    void *bytes = NULL;
    void *records = NULL;
    *view = (struct late_view){
        .layouts = layouts, .most_bytes = ring_bytes, .most_records = ring_bytes / SHORTEST_RECORD};
    enum os_status status = os_memory_allocate(&bytes, view->most_bytes);
    if (status == OS_OK) {
        view->bytes = bytes;
        status = os_memory_allocate(&records, view->most_records * sizeof *view->records);
        view->records = status == OS_OK ? records : NULL;
    }
    return status;
}

void late_view_destroy(struct late_view *view)
{
    if (view->records != NULL) {
        os_memory_free(view->records, view->most_records * sizeof *view->records);
    }
    if (view->bytes != NULL) {
        os_memory_free(view->bytes, view->most_bytes);
    }
}

/* Where the latest record begins: counted down from 0, so it is also minus all that was ever written. */
static uint64_t head_of(const struct late_ring *ring)
{
    const void *const head = (const char *)ring->pages + HEAD_AT; /* data_head of perf_event_mmap_page */
    return atomic_load_explicit((const _Atomic uint64_t *)head, memory_order_acquire);
}

/* Copies `count` bytes that lie `distance` behind the head, and says how many bytes behind `head` are whole afterwards. */
static size_t copy_piece(const struct late_ring *ring, uint64_t head, size_t distance, uint8_t *to, size_t count)
{
    const uint8_t *const data = (const uint8_t *)ring->pages + getauxval(AT_PAGESZ);
    const size_t begin = (size_t)(head + distance) & (ring->bytes - 1);
    const size_t straight = count < ring->bytes - begin ? count : ring->bytes - begin;
    memcpy(to, data + begin, straight);
    memcpy(to + straight, data, count - straight);
    atomic_thread_fence(memory_order_acquire);
    const uint64_t overwritten = head - head_of(ring) + UNSURE_BYTES;
    return overwritten < ring->bytes ? ring->bytes - (size_t)overwritten : 0;
}

static bool find_layout(const struct late_ring *ring, uint64_t number, uint32_t *layout)
{
    for (uint32_t i = 0; i < ring->count; i++) {
        if (ring->numbers[i] == number) {
            *layout = i;
            return true;
        }
    }
    return false;
}

/* How far back the view has come. */
struct way_back {
    size_t at;
    bool at_end; /* nothing was ever written there, or nothing that is understood */
    bool has_switch;
    int beyond; /* records before `from_ns` since then */
};

static bool has_enough(const struct way_back *way)
{
    return way->has_switch && way->beyond > DISORDER;
}

/* Notes the records in the first `filled` bytes, from where it stood, until there are enough. */
static void note_records(struct late_view *view, struct way_back *way, size_t filled, int64_t from_ns)
{
    struct sample sample;
    while (!has_enough(way) && !way->at_end && filled - way->at >= sizeof sample.record) {
        memcpy(&sample.record, view->bytes + way->at, sizeof sample.record);
        const size_t bytes = sample.record.bytes;
        if (bytes < sizeof sample.record || view->count == view->most_records) {
            way->at_end = true;
        }
        if (way->at_end || bytes > filled - way->at) {
            return;
        }
        uint32_t layout = 0;
        if (sample.record.type == PERF_RECORD_SAMPLE && bytes >= FIELDS_AT) {
            memcpy(&sample, view->bytes + way->at, FIELDS_AT);
            if (find_layout(view->ring, sample.number, &layout)) {
                view->records[view->count++] = (struct late_record){sample.time_ns, (uint32_t)way->at, layout};
                way->beyond += sample.time_ns < from_ns ? 1 : 0;
                way->has_switch |= sample.time_ns < from_ns && view->layouts[layout].kind == OS_LATE_SWITCH;
            }
        }
        way->at += bytes;
    }
}

/* They are nearly in order: only an interrupt between the two halves of writing a record comes first. */
static void sort(struct late_record *records, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct late_record record = records[i];
        size_t at = i;
        for (; at > 0 && records[at - 1].time_ns < record.time_ns; at--) {
            records[at] = records[at - 1];
        }
        records[at] = record;
    }
}

void late_view_look(struct late_view *view, const struct late_ring *ring, int64_t from_ns, int64_t until_ns)
{
    if (view->ring == ring && until_ns < view->taken_ns && from_ns >= view->from_ns) {
        return;
    }
    view->ring = ring;
    view->count = 0;
    view->from_ns = from_ns;
    view->taken_ns = os_now_ns();
    const uint64_t head = head_of(ring);
    const uint64_t ever = 0 - head;
    const size_t there = ever < ring->bytes ? (size_t)ever : ring->bytes;
    size_t filled = 0;
    size_t whole = there;
    struct way_back way = {0};
    while (filled < whole && !has_enough(&way) && !way.at_end) {
        const size_t piece = whole - filled < PIECE_BYTES ? whole - filled : PIECE_BYTES;
        const size_t sure = copy_piece(ring, head, filled, view->bytes + filled, piece);
        whole = sure < whole ? sure : whole;
        filled = filled + piece < whole ? filled + piece : whole > filled ? whole : filled;
        note_records(view, &way, filled, from_ns);
    }
    sort(view->records, view->count);
    const bool reached = view->count > 0 && view->records[view->count - 1].time_ns < from_ns;
    view->complete = reached || (ever == whole && way.at == whole);
}

bool late_view_decode(const struct late_view *view, const struct late_record *record, struct os_late_event *event)
{
    const struct late_layout *const layout = &view->layouts[record->layout];
    const uint8_t *const bytes = view->bytes + record->at;
    struct sample sample;
    memcpy(&sample, bytes, FIELDS_AT);
    *event = (struct os_late_event){.time_ns = sample.time_ns};
    return sample.length <= (size_t)sample.record.bytes - FIELDS_AT &&
           late_layout_decode(layout, bytes + FIELDS_AT, sample.length, event);
}
