#include "options.h"

#include "message.h"
#include "os/os.h"
#include "format.h"

#include <ctype.h>
#include <string.h>

static bool read_count(const char *text, int64_t *count)
{
    const char *const end = text + strlen(text);
    return quantity_digits(&text, end, "", count) && text == end;
}

/* What follows `beginning` in the word, capital letters or not; NULL: it does not begin like that. */
static const char *after(const char *word, const char *beginning)
{
    while (*beginning != '\0') {
        if (tolower((unsigned char)*word++) != tolower((unsigned char)*beginning++)) {
            return NULL;
        }
    }
    return word;
}

static bool read_choice(const struct option *option, const char *text)
{
    for (int i = 0; option->choices[i] != NULL; i++) {
        const char *const rest = after(option->choices[i], text);
        if (rest != NULL && *rest == '\0') {
            *(int *)option->target = i;
            return true;
        }
    }
    return false;
}

/* The first choice that begins with `text`, which was cut short; NULL: there is none. */
static const char *beginning_with(const struct option *option, const char *text)
{
    for (int i = 0; *text != '\0' && option->choices[i] != NULL; i++) {
        if (after(option->choices[i], text) != NULL) {
            return option->choices[i];
        }
    }
    return NULL;
}

static void join_choices(const struct option *option, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; option->choices[i] != NULL && used < bytes; i++) {
        used += format_text(text + used, bytes - used, "%s%s", i == 0 ? "" : "|", option->choices[i]);
    }
}

static bool refuse_quantity(const struct option *option, const char *text, const char *what, const char *advice)
{
    refuse(EXIT_USAGE, "--%s %s: not a %s.\nWrite %s.", option->name, text, what, advice);
    return false;
}

/* So that an instant and a few of them can be added. */
static bool is_on_clock(const struct option *option, const char *text)
{
    const bool is = *(const int64_t *)option->target <= INT64_MAX / 4;
    if (!is) {
        refuse(EXIT_USAGE, "--%s %s: it would end after the clock does.\nShorten it.", option->name, text);
    }
    return is;
}

static bool read_value(const struct option *option, const char *text)
{
    char choices[128];
    switch (option->kind) {
    case OPTION_DURATION:
        return (duration_read(text, strlen(text), option->target) ||
                refuse_quantity(option, text, "duration", "a number with its unit: 250us, 1ms, 10s, 2min, 1h")) &&
               is_on_clock(option, text);
    case OPTION_PERIOD:
        return (period_read(text, strlen(text), option->target) ||
                refuse_quantity(option, text, "duration", "a number with its unit: 250us, 1ms; or its rate: 1kHz")) &&
               is_on_clock(option, text);
    case OPTION_RATE:
        return read_count(text, option->target) || rate_read(text, strlen(text), option->target) ||
               refuse_quantity(option, text, "whole number of Hz", "500, 500Hz, 1kHz; or the period: 2ms");
    case OPTION_SIZE:
        return size_read(text, strlen(text), option->target) ||
               refuse_quantity(option, text, "size", "bytes, or a number with its unit: 64kB, 64KiB, 256MiB, 1.5GB");
    case OPTION_COUNT:
        if (!read_count(text, option->target)) {
            refuse(EXIT_USAGE, "--%s %s: not a whole number.\nWrite 0, or a number above it, in digits.", option->name,
                   text);
            return false;
        }
        return true;
    case OPTION_CHOICE:
        if (!read_choice(option, text)) {
            join_choices(option, choices, sizeof choices);
            const char *const meant = beginning_with(option, text);
            refuse(EXIT_USAGE, "--%s %s: not one of %s.%s%s%s", option->name, text, choices,
                   meant != NULL ? "\nDid you mean " : "", meant != NULL ? meant : "", meant != NULL ? "?" : "");
            return false;
        }
        return true;
    case OPTION_TEXT:
        if (*text == '\0') {
            refuse(EXIT_USAGE, "--%s needs a value: an empty one was given.", option->name);
            return false;
        }
        *(const char **)option->target = text;
        return true;
    case OPTION_FLAG:
    case OPTION_GROUP:
        break;
    }
    return false;
}

/* What the command has that is read: one at a time, by the main thread. */
enum { MOST_OPTIONS = 64 };
static struct {
    struct option options[MOST_OPTIONS];
    size_t count;
} taken;

/* `name` ends where the string does, or at "=". */
static struct option *find(const char *name)
{
    const size_t length = strcspn(name, "=");
    for (size_t i = 0; i < taken.count; i++) {
        if (strlen(taken.options[i].name) == length && strncmp(taken.options[i].name, name, length) == 0) {
            return &taken.options[i];
        }
    }
    return NULL;
}

static void take(const struct option *options, size_t count)
{
    taken.count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct option_group_at *const at = options[i].kind == OPTION_GROUP ? options[i].target : NULL;
        const struct option *const rows = at != NULL ? at->group->rows : &options[i];
        const size_t row_count = at != NULL ? at->group->count : 1;
        for (size_t j = 0; j < row_count && taken.count < MOST_OPTIONS; j++) {
            struct option *const option = &taken.options[taken.count++];
            *option = rows[j];
            if (at != NULL) {
                option->target = (char *)at->target + ((const char *)rows[j].target - (const char *)at->group->form);
            }
        }
    }
}

bool options_read(const struct option *options, size_t count, int argc, char **argv, bool *wants_help)
{
    take(options, count);
    *wants_help = false;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            *wants_help = true;
            return true;
        }
        struct option *const option = strncmp(argv[i], "--", 2) == 0 ? find(argv[i] + 2) : NULL;
        if (option == NULL) {
            refuse(EXIT_USAGE, "%s: no such option.\n--help lists them.", argv[i]);
            return false;
        }
        if (option->given) {
            refuse(EXIT_USAGE, "--%s stands there twice.\nGive it once.", option->name);
            return false;
        }
        option->given = true;
        const char *value = strchr(argv[i], '=');
        if (option->kind == OPTION_FLAG) {
            if (value != NULL) {
                refuse(EXIT_USAGE, "--%s takes no value.", option->name);
                return false;
            }
            *(bool *)option->target = true;
            continue;
        }
        if (value != NULL) {
            value++;
        } else if (i + 1 < argc) {
            value = argv[++i];
        } else {
            refuse(EXIT_USAGE, "--%s needs a value.", option->name);
            return false;
        }
        if (!read_value(option, value)) {
            return false;
        }
    }
    return true;
}

bool options_given(const char *name)
{
    const struct option *const option = find(name);
    return option != NULL && option->given;
}

bool options_known(const char *name)
{
    return find(name) != NULL;
}

static void print_options(void)
{
    for (size_t i = 0; i < taken.count; i++) {
        const struct option *const option = &taken.options[i];
        char value[128] = "";
        switch (option->kind) {
        case OPTION_FLAG:
        case OPTION_GROUP:
            break;
        case OPTION_CHOICE:
            join_choices(option, value, sizeof value);
            break;
        case OPTION_DURATION:
        case OPTION_PERIOD:
            format_text(value, sizeof value, "TIME");
            break;
        case OPTION_SIZE:
            format_text(value, sizeof value, "SIZE");
            break;
        case OPTION_RATE:
            format_text(value, sizeof value, "HZ");
            break;
        case OPTION_COUNT:
            format_text(value, sizeof value, "N");
            break;
        case OPTION_TEXT:
            format_text(value, sizeof value, "TEXT");
            break;
        }
        char left[160];
        char usual[32] = "";
        format_text(left, sizeof left, "--%s %s", option->name, value);
        const bool tells = option->kind != OPTION_COUNT || strchr(option->help, '[') != NULL;
        const int64_t count = tells ? 0 : *(const int64_t *)option->target; /* as it stands before reading; 0: none */
        if (count != 0) {
            format_text(usual, sizeof usual, " [%lld]", (long long)count);
        }
        print("  %-34s %s%s\n", left, option->help, usual);
    }
}

bool options_read_or_help(const struct option *options, size_t count, int argc, char **argv, const char *usage, int *code)
{
    bool wants_help = false;
    *code = EXIT_USAGE;
    if (!options_read(options, count, argc, argv, &wants_help)) {
        return false;
    }
    if (wants_help) {
        print("%s", usage);
        print_options();
        *code = EXIT_MEASURED;
    }
    return !wants_help;
}

static int cpu_list_add(struct cpu_list *list, const char *option, int64_t cpu)
{
    if (cpu >= os_cpu_limit() || !os_cpu_is_online((int32_t)cpu)) {
        char online[256];
        os_cpus_online_text(online, sizeof online);
        return refuse(EXIT_USAGE, "CPU %lld is offline; online: %s.\nChoose with --%s from those.", (long long)cpu,
                      online[0] != '\0' ? online : "not known", option);
    }
    if (!os_cpu_is_allowed((int32_t)cpu)) {
        return refuse(EXIT_NOT_PERMITTED,
                      "CPU %lld is outside the set that this process may use (cpuset or container).\n"
                      "Widen that set, or choose with --%s from what it allows.",
                      (long long)cpu, option);
    }
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->cpus[i] == (int32_t)cpu) {
            return refuse(EXIT_USAGE, "--%s names CPU %lld twice.", option, (long long)cpu);
        }
    }
    if (list->count == CPU_LIST_LIMIT) {
        return refuse(EXIT_USAGE, "--%s takes at most %d CPUs.", option, CPU_LIST_LIMIT);
    }
    list->cpus[list->count++] = (int32_t)cpu;
    return EXIT_MEASURED;
}

static int cpu_list_add_all_allowed(struct cpu_list *list)
{
    for (int32_t cpu = 0; cpu < os_cpu_limit() && list->count < CPU_LIST_LIMIT; cpu++) {
        if (os_cpu_is_online(cpu) && os_cpu_is_inherited(cpu)) {
            list->cpus[list->count++] = cpu;
        }
    }
    return list->count > 0 ? EXIT_MEASURED : refuse(EXIT_FAILED, "no CPU is online and allowed to this process.");
}

/* "2" or "2-5" at `*at`, which moves behind it. */
static bool read_range(const char **at, int64_t *first, int64_t *last)
{
    const char *const end = *at + strlen(*at);
    if (!quantity_digits(at, end, "", first)) {
        return false;
    }
    *last = *first;
    if (**at == '-') {
        (*at)++;
        return quantity_digits(at, end, "", last) && *last >= *first;
    }
    return true;
}

int cpu_list_read_option(struct cpu_list *list, const char *option, const char *text)
{
    list->count = 0;
    if (strcmp(text, "all") == 0) {
        return cpu_list_add_all_allowed(list);
    }
    if (strcmp(text, "any") == 0) {
        list->cpus[list->count++] = OS_CPU_ANY;
        return EXIT_MEASURED;
    }
    const char *at = text;
    for (;;) {
        int64_t cpu = 0;
        int64_t last = 0;
        if (!read_range(&at, &cpu, &last) || (*at != ',' && *at != '\0')) {
            return refuse(EXIT_USAGE, "--%s %s: not a list of CPUs.\nWrite 0,2-3, or all, or any.", option, text);
        }
        for (; cpu <= last; cpu++) {
            const int code = cpu_list_add(list, option, cpu);
            if (code != EXIT_MEASURED) {
                return code;
            }
        }
        if (*at == '\0') {
            return EXIT_MEASURED;
        }
        at++;
    }
}

int cpu_list_read(struct cpu_list *list, const char *text)
{
    return cpu_list_read_option(list, "cpus", text);
}

void cpu_list_to_text(const struct cpu_list *list, char text[CPU_LIST_TEXT_BYTES])
{
    enum { LONGEST_RANGE = 24 };
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < list->count && used + LONGEST_RANGE < CPU_LIST_TEXT_BYTES;) {
        uint32_t last = i;
        while (last + 1 < list->count && list->cpus[last + 1] == list->cpus[last] + 1) {
            last++;
        }
        used += format_text(text + used, CPU_LIST_TEXT_BYTES - used, "%s%d", used > 0 ? "," : "", (int)list->cpus[i]);
        if (last > i) {
            used += format_text(text + used, CPU_LIST_TEXT_BYTES - used, "-%d", (int)list->cpus[last]);
        }
        i = last + 1;
    }
}
