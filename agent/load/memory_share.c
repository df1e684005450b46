#include "load/memory_share.h"

#include "message.h"
#include "options.h"
#include "os/os.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_PERCENT = 90, RESERVE_PERCENT = 4, HALF_PERCENT = 50, MIB = 1024 * 1024 };
static const int64_t usual_bytes = 256LL * MIB;

static int64_t percent_of(int64_t bytes, int64_t percent)
{
    return bytes / 100 * percent;
}

static int read_bytes(struct memory_share *share, int64_t available_bytes)
{
    int64_t part = 0;
    if (share->asked == NULL) {
        const int64_t half = percent_of(available_bytes, HALF_PERCENT);
        share->bytes = half < usual_bytes ? half : usual_bytes;
        return EXIT_MEASURED;
    }
    const size_t length = strlen(share->asked);
    if (size_read(share->asked, length, &share->bytes)) {
        return EXIT_MEASURED;
    }
    if (!share_read(share->asked, length, &part)) {
        return refuse(EXIT_USAGE, "--bytes %s: not a size.\n"
                                  "Write 64MiB, 1.5GB, or a share of the available memory: 70%%.",
                      share->asked);
    }
    if (part < SHARE_WHOLE / 100 || part > SHARE_WHOLE / 100 * MOST_PERCENT) {
        return refuse(EXIT_USAGE, "--bytes %s: a share of the memory must lie between 1%% and %d%%.", share->asked,
                      MOST_PERCENT);
    }
    if (available_bytes == INT64_MAX) {
        return refuse(EXIT_FAILED, "--bytes %s: this system does not tell how much memory it has left.\nGive a size.",
                      share->asked);
    }
    share->bytes = (int64_t)((double)available_bytes * ((double)part / (double)SHARE_WHOLE));
    return EXIT_MEASURED;
}

int memory_share_read(struct memory_share *share, uint32_t parts, int64_t part_bytes)
{
    const int64_t available_bytes = os_memory_available_bytes();
    const int code = read_bytes(share, available_bytes);
    if (code != EXIT_MEASURED) {
        return code;
    }
    const int64_t least_bytes = (int64_t)parts * part_bytes;
    if (share->bytes < least_bytes) {
        return refuse(EXIT_USAGE, "--bytes must be %" PRId64 " KiB at least: %" PRId64 " KiB for each of %" PRIu32 ".",
                      least_bytes / 1024, part_bytes / 1024, parts);
    }
    if (share->bytes > percent_of(available_bytes, MOST_PERCENT) || (uint64_t)share->bytes > SIZE_MAX / 2) {
        return refuse(EXIT_FAILED, "--bytes: %" PRId64 " MiB are more than %d %% of the %" PRId64 " MiB that are available "
                                   "now; the rest is for everything else.\nTake less, or a share such as 70%%.",
                      share->bytes / MIB, MOST_PERCENT, available_bytes / MIB);
    }
    share->bytes -= share->bytes % least_bytes;
    share->reserve_bytes = available_bytes == INT64_MAX ? 0 : percent_of(available_bytes, RESERVE_PERCENT);
    return EXIT_MEASURED;
}

bool memory_share_is_short(struct memory_share *share)
{
    if (os_memory_available_bytes() >= share->reserve_bytes) {
        return false;
    }
    atomic_fetch_add_explicit(&share->waits, 1, memory_order_relaxed);
    return true;
}

void memory_share_report(const struct memory_share *share, struct json *report)
{
    json_integer(report, "memory_bytes", share->bytes);
    json_unsigned(report, "waits_for_memory", atomic_load(&share->waits));
}
