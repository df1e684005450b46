#include "trace_page.h"

#include <string.h>

/* An entry begins with 32 bits: what kind it is, or how many words it has, in the lowest five; the rest is the time that
 * has passed. So it is on machines with the lowest byte first, and others are none of ours. */
enum { KIND_BITS = 5, KIND_MASK = (1 << KIND_BITS) - 1, TIME_BITS = 27, WORD = 4 };
enum { LONG_EVENT = 0, PADDING = 29, TIME_EXTENSION = 30, TIME_STAMP = 31 };
enum { COMMIT_MASK = 0xfffff }; /* above it there are flags: events were lost before this page */
static const uint64_t stamp_bits = ((uint64_t)1 << (TIME_BITS + 32)) - 1;

static uint32_t word_at(const unsigned char *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

void trace_page_begin(struct trace_page *page, const void *bytes, size_t length, size_t commit_bytes)
{
    const unsigned char *const head = bytes;
    const size_t head_bytes = sizeof page->time_ns + commit_bytes;
    *page = (struct trace_page){.at = head, .end = head};
    if (length < head_bytes) {
        return;
    }
    memcpy(&page->time_ns, head, sizeof page->time_ns);
    const size_t filled = word_at(head + sizeof page->time_ns) & COMMIT_MASK;
    page->at = head + head_bytes;
    page->end = page->at + (filled < length - head_bytes ? filled : length - head_bytes);
}

/* The length of the entry behind its first word, where the second one tells it. 0: it is cut off. */
static size_t told_length(const struct trace_page *page)
{
    const size_t left = (size_t)(page->end - page->at);
    if (left < 2 * (size_t)WORD) {
        return 0;
    }
    const size_t told = word_at(page->at + WORD);
    return told >= WORD && told <= left - WORD ? told : 0;
}

bool trace_page_next(struct trace_page *page, const unsigned char **event, size_t *length, uint64_t *time_ns)
{
    while (page->end - page->at >= WORD) {
        const uint32_t head = word_at(page->at);
        const uint32_t kind = head & KIND_MASK;
        const uint64_t passed = head >> KIND_BITS;
        const bool long_head = kind == LONG_EVENT || kind >= PADDING;
        const bool time_only = kind == TIME_EXTENSION || kind == TIME_STAMP;
        size_t behind = (size_t)kind * WORD;
        if (time_only) {
            behind = page->end - page->at >= 2 * (ptrdiff_t)WORD ? WORD : 0;
        } else if (long_head) {
            behind = told_length(page);
        }
        if (behind == 0 || behind > (size_t)(page->end - page->at) - WORD || (kind == PADDING && passed == 0)) {
            break; /* the rest of the page is empty, or not understood */
        }
        const unsigned char *const second = page->at + WORD;
        page->at = second + behind;
        if (kind == TIME_STAMP) {
            page->time_ns = (page->time_ns & ~stamp_bits) | (passed | (uint64_t)word_at(second) << TIME_BITS);
        } else {
            page->time_ns += passed + (kind == TIME_EXTENSION ? (uint64_t)word_at(second) << TIME_BITS : 0);
        }
        if (!time_only && kind != PADDING) {
            *event = long_head ? second + WORD : second;
            *length = long_head ? behind - WORD : behind;
            *time_ns = page->time_ns;
            return true;
        }
    }
    page->at = page->end;
    return false;
}
