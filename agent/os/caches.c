/* /sys/devices/system/cpu/cpuN/cache; stores with a hint that what they write is not read soon (non-temporal). */
#include "os/caches.h"

#include "format.h"
#include "os/settings.h"

#include <inttypes.h>
#include <stdlib.h>

#if defined __x86_64__ || defined __SSE2__
#include <emmintrin.h>
#endif

enum { MOST_CACHES = 16, PATH_BYTES = 96, BYTES_PER_K = 1024 };

/* "32768K"; 0 where it can't be read. */
static int64_t size_in(const char *path)
{
    struct text content = {0};
    char *end = NULL;
    if (os_file_read(path, &content) != FAULT_NONE) {
        text_free(&content);
        return 0;
    }
    int64_t size = strtoll(text_string(&content), &end, 10);
    if (*end == 'K') {
        size *= BYTES_PER_K;
    } else if (*end == 'M') {
        size *= (int64_t)BYTES_PER_K * BYTES_PER_K;
    }
    text_free(&content);
    return size;
}

int64_t os_last_cache_bytes(int32_t cpu)
{
    int64_t largest = 0;
    for (int cache = 0; cache < MOST_CACHES; cache++) {
        char path[PATH_BYTES];
        format_text(path, sizeof path, "/sys/devices/system/cpu/cpu%" PRId32 "/cache/index%d/size", cpu, cache);
        const int64_t size = size_in(path);
        largest = size > largest ? size : largest;
    }
    return largest;
}

#if defined __x86_64__ || defined __SSE2__

void os_store_past_caches(void *memory, size_t bytes, uint64_t pattern)
{
    __m128i *const lines = memory;
    const __m128i both = _mm_set1_epi64x((long long)pattern);
    for (size_t i = 0; i < bytes / sizeof *lines; i += 4) {
        _mm_stream_si128(lines + i, both);
        _mm_stream_si128(lines + i + 1, both);
        _mm_stream_si128(lines + i + 2, both);
        _mm_stream_si128(lines + i + 3, both);
    }
    _mm_sfence();
}

const char *os_store_past_caches_way(void)
{
    return "movntdq";
}

#elif defined __aarch64__

void os_store_past_caches(void *memory, size_t bytes, uint64_t pattern)
{
    uint64_t *const words = memory;
    for (size_t i = 0; i < bytes / sizeof *words; i += 2) {
        __asm__ volatile("stnp %1, %1, [%0]" : : "r"(words + i), "r"(pattern) : "memory");
    }
}

const char *os_store_past_caches_way(void)
{
    return "stnp";
}

#else

void os_store_past_caches(void *memory, size_t bytes, uint64_t pattern)
{
    volatile uint64_t *const words = memory;
    for (size_t i = 0; i < bytes / sizeof *words; i++) {
        words[i] = pattern;
    }
}

const char *os_store_past_caches_way(void)
{
    return NULL;
}

#endif
