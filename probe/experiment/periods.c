#include "experiment/periods.h"

#include "format.h"
#include "message.h"
#include "options.h"

#include <string.h>

static const int64_t longest_ns = 3600000000000;

bool periods_read(struct periods *periods, int64_t shortest_ns, const char *shortest)
{
    const char *at = periods->text;
    for (bool more = true; more;) {
        const size_t length = strcspn(at, ",");
        int64_t *const period_ns = &periods->ns[periods->count];
        if (periods->count == PERIODS_LIMIT) {
            refuse(EXIT_USAGE, "--periods: at most %d.", PERIODS_LIMIT);
            return false;
        }
        if (!period_read(at, length, period_ns) || *period_ns < shortest_ns || *period_ns > longest_ns) {
            refuse(EXIT_USAGE, "--periods %s: the periods lie between %s and 1h, joined by commas: 10ms,30ms,50ms.",
                   periods->text, shortest);
            return false;
        }
        for (uint32_t i = 0; i < periods->count; i++) {
            if (periods->ns[i] == *period_ns) {
                refuse(EXIT_USAGE, "--periods %s: one of them is named twice.\nFor more samples raise --count.",
                       periods->text);
                return false;
            }
        }
        periods->count++;
        more = at[length] == ',';
        at += length + 1;
    }
    return true;
}

void period_to_text(char text[PERIOD_TEXT_BYTES], int64_t period_ns)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t unit = 0;
    while (period_ns % units[unit].ns != 0) {
        unit++;
    }
    format_text(text, PERIOD_TEXT_BYTES, "%lld %s", (long long)(period_ns / units[unit].ns), units[unit].name);
}
