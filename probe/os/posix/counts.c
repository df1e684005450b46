/* What /proc says of a thread and of a CPU: proc(5). */
#include "linux.h"

#include "format.h"

#include <inttypes.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { PATH_BYTES = 64, STATUS_BYTES = LINUX_STATUS_BYTES, STAT_BYTES = 512, CPU_LINES_BYTES = 65536 };

/* The number behind `key`; INT64_MIN where it does not stand there. */
static int64_t number_behind(const char *text, const char *key)
{
    const char *const behind = linux_behind(text, key);
    return behind != NULL ? linux_number(behind, NULL) : INT64_MIN;
}

/* Number `field` of those that blanks divide; the first has the number `first`. */
static int64_t field_of(const char *text, int first, int field)
{
    for (; first < field && text != NULL; first++) {
        text = strchr(text, ' ');
        text = text != NULL ? text + 1 : NULL;
    }
    return text != NULL ? linux_number(text, NULL) : INT64_MIN;
}

static int64_t faults_of(const char *stat)
{
    enum { FIRST = 3, FIELD_MINOR = 10, FIELD_MAJOR = 12 };
    const char *const behind_name = strrchr(stat, ')');
    if (behind_name == NULL || behind_name[1] != ' ') {
        return INT64_MIN;
    }
    const int64_t minor = field_of(behind_name + 2, FIRST, FIELD_MINOR);
    const int64_t major = field_of(behind_name + 2, FIRST, FIELD_MAJOR);
    return minor >= 0 && major >= 0 ? minor + major : INT64_MIN;
}

/* The beginning of /proc/stat, where the lines of the CPUs are; of the one thread that asks, which asks for many at a time. */
static const char *cpu_lines(void)
{
    enum { GOOD_FOR_NS = 1000000 };
    static char text[CPU_LINES_BYTES];
    static int64_t read_ns;
    const int64_t now_ns = os_now_ns();
    if (read_ns == 0 || now_ns - read_ns > GOOD_FOR_NS) {
        (void)linux_read_text("/proc/stat", text, sizeof text); /* empty where it can't be read */
        read_ns = now_ns;
    }
    return text;
}

static int64_t steal_of(int32_t cpu)
{
    enum { FIELD_STEAL = 8, NS_PER_S = 1000000000 };
    char key[PATH_BYTES];
    const int64_t ticks_per_s = (int64_t)getauxval(AT_CLKTCK);
    format_text(key, sizeof key, "\ncpu%" PRId32 " ", cpu);
    const char *const behind = linux_behind(cpu_lines(), key);
    const int64_t ticks = behind != NULL ? field_of(behind, 1, FIELD_STEAL) : INT64_MIN;
    return ticks >= 0 && ticks_per_s > 0 ? ticks * (NS_PER_S / ticks_per_s) : INT64_MIN;
}

void os_counts_read(struct os_counts *counts, const struct os_thread *thread, int32_t cpu)
{
    char path[PATH_BYTES];
    char text[STATUS_BYTES];
    *counts = (struct os_counts){INT64_MIN, INT64_MIN, INT64_MIN};
    if (thread != NULL) {
        const int64_t number = os_thread_number_of(thread); /* perhaps of another process */
        format_text(path, sizeof path, "/proc/%" PRId64 "/task/%" PRId64 "/status", number, number);
        counts->preempted =
            linux_read_text(path, text, sizeof text) ? number_behind(text, "\nnonvoluntary_ctxt_switches:") : INT64_MIN;
        format_text(path, sizeof path, "/proc/%" PRId64 "/task/%" PRId64 "/stat", number, number);
        counts->faults = linux_read_text(path, text, STAT_BYTES) ? faults_of(text) : INT64_MIN;
    }
    if (cpu >= 0) {
        counts->steal_ns = steal_of(cpu);
    }
}
