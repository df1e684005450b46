#include "experiment/taskset_tasks.h"

#include "format.h"
#include "message.h"
#include "options.h"
#include "record/json.h"

#include <string.h>

enum { NAME, PERIOD, DEADLINE, EXECUTION, PRIORITY, CPU, OFFSET, RUNTIME, FIELDS_LIMIT, FIELDS_NEEDED = CPU + 1 };
enum { FIELD_BYTES = TASK_NAME_BYTES };

static const char form[] = "NAME:PERIOD:DEADLINE:EXECUTION:PRIORITY:CPU[:OFFSET[:RUNTIME]]";

/* One task's fields, copied so that each ends. */
struct fields {
    char text[FIELDS_LIMIT][FIELD_BYTES];
    uint32_t count;
};

/* Splits at colons up to a comma or the end; `*at` moves there. False after telling what is wrong. */
static bool split(struct fields *fields, const char **at, uint32_t number)
{
    fields->count = 0;
    for (;;) {
        const size_t length = strcspn(*at, ":,");
        if (fields->count == FIELDS_LIMIT) {
            refuse(EXIT_USAGE, "--tasks: task %u has too many fields.\nWrite %s.", number, form);
            return false;
        }
        if (length >= FIELD_BYTES) {
            refuse(EXIT_USAGE, "--tasks: task %u has a field of %u characters; at most %d are taken.", number,
                   (unsigned int)length, FIELD_BYTES - 1);
            return false;
        }
        memcpy(fields->text[fields->count], *at, length);
        fields->text[fields->count][length] = '\0';
        fields->count++;
        *at += length;
        if (**at != ':') {
            break;
        }
        (*at)++;
    }
    if (fields->count < FIELDS_NEEDED || fields->text[NAME][0] == '\0') {
        refuse(EXIT_USAGE, "--tasks: task %u %s.\nWrite %s.", number,
               fields->count < FIELDS_NEEDED ? "lacks fields" : "has no name", form);
        return false;
    }
    if (!json_is_text(fields->text[NAME])) {
        refuse(EXIT_USAGE, "--tasks: the name of task %u is not UTF-8.", number);
        return false;
    }
    return true;
}

static bool read_time(const struct fields *fields, int field, const char *word, int64_t least_ns, int64_t *time_ns)
{
    const char *const text = fields->text[field];
    if (!(field == PERIOD ? period_read : duration_read)(text, strlen(text), time_ns)) {
        refuse(EXIT_USAGE,
               "--tasks: task '%s': %s '%s' is not a duration.\nWrite a number with its unit: 250us, 1ms, 10s.",
               fields->text[NAME], word, text);
        return false;
    }
    if (*time_ns < least_ns) {
        refuse(EXIT_USAGE, "--tasks: task '%s': its %s is 0.\nGive it a length.", fields->text[NAME], word);
        return false;
    }
    return true;
}

static bool read_number(const char *text, int64_t *number)
{
    *number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && *number < INT32_MAX; at++) {
        *number = *number * 10 + (*at - '0');
    }
    return at != text && *at == '\0';
}

static bool read_priority(struct task *task, const char *text, enum os_policy policy)
{
    const int32_t levels = os_priority_levels(policy);
    if (levels == 0) {
        if (strcmp(text, "-") != 0) {
            refuse(EXIT_USAGE, "--tasks: task '%s': priority '%s', but policy %s has no priorities.\nWrite - for it.",
                   task->name, text, os_policy_name(policy));
            return false;
        }
        return true;
    }
    if (!read_number(text, &task->priority) ||
        os_priority_from_native(policy, task->priority, &task->below_highest) != OS_OK) {
        refuse(EXIT_USAGE, "--tasks: task '%s': priority '%s': policy %s has %lld to %lld here.", task->name, text,
               os_policy_name(policy), (long long)os_priority_to_native(policy, levels - 1),
               (long long)os_priority_to_native(policy, 0));
        return false;
    }
    return true;
}

static int read_cpu(struct task *task, const char *text, enum os_policy policy)
{
    if (strcmp(text, "any") == 0) {
        task->cpu = OS_CPU_ANY;
        return EXIT_MEASURED;
    }
    if (policy == OS_POLICY_DEADLINE) {
        return refuse(EXIT_USAGE,
                      "--tasks: task '%s': cpu '%s', but a deadline thread may run on every CPU of its set.\nWrite "
                      "any, inside a cpuset of its own to keep it on one CPU.",
                      task->name, text);
    }
    int64_t cpu = 0;
    if (!read_number(text, &cpu) || cpu >= os_cpu_limit() || !os_cpu_is_online((int32_t)cpu)) {
        return refuse(EXIT_USAGE,
                      "--tasks: task '%s': cpu '%s' is not a CPU that is online here.\nWrite its number, or any.",
                      task->name, text);
    }
    if (!os_cpu_is_allowed((int32_t)cpu)) {
        return refuse(EXIT_NOT_PERMITTED, "--tasks: task '%s': CPU %lld is outside the set that this process may use "
                                          "(cpuset or container).\nWiden that set, or choose from what it allows.",
                      task->name, (long long)cpu);
    }
    task->cpu = (int32_t)cpu;
    return EXIT_MEASURED;
}

static bool read_times(struct task *task, const struct fields *fields)
{
    if (!read_time(fields, PERIOD, "period", 1, &task->period_ns) ||
        !read_time(fields, EXECUTION, "execution time", 1, &task->execution_ns)) {
        return false;
    }
    if (task->period_ns < OS_SHORTEST_PERIOD_NS) {
        refuse(EXIT_USAGE, "--tasks: task '%s': its period must be 10us or more.", task->name);
        return false;
    }
    if (task->period_ns > INT64_MAX / 4) {
        refuse(EXIT_USAGE, "--tasks: task '%s': its period ends after the clock does.\nShorten it.", task->name);
        return false;
    }
    task->deadline_ns = task->period_ns;
    if (strcmp(fields->text[DEADLINE], "-") != 0 && !read_time(fields, DEADLINE, "deadline", 1, &task->deadline_ns)) {
        return false;
    }
    if (task->execution_ns > task->deadline_ns) {
        refuse(EXIT_USAGE,
               "--tasks: task '%s': its execution time is longer than its deadline.\nNo schedule can serve it: shorten "
               "the one or lengthen the other.",
               task->name);
        return false;
    }
    return (fields->count <= OFFSET || read_time(fields, OFFSET, "offset", 0, &task->offset_ns)) &&
           (fields->count <= RUNTIME || read_time(fields, RUNTIME, "runtime", 1, &task->runtime_ns));
}

static int read_task(struct task *task, const struct fields *fields, enum os_policy policy)
{
    *task = (struct task){.cpu = OS_CPU_ANY};
    memcpy(task->name, fields->text[NAME], sizeof task->name);
    if (!read_times(task, fields) || !read_priority(task, fields->text[PRIORITY], policy)) {
        return EXIT_USAGE;
    }
    return read_cpu(task, fields->text[CPU], policy);
}

int tasks_read(struct task *tasks, uint32_t *count, const char *text, enum os_policy policy)
{
    *count = 0;
    for (const char *at = text;; at++) {
        if (*count == TASKS_LIMIT) {
            return refuse(EXIT_USAGE, "--tasks: at most %d tasks are taken.\nMeasure some of them.", TASKS_LIMIT);
        }
        struct fields fields;
        if (!split(&fields, &at, *count + 1)) {
            return EXIT_USAGE;
        }
        for (uint32_t i = 0; i < *count; i++) {
            if (strcmp(tasks[i].name, fields.text[NAME]) == 0) {
                return refuse(EXIT_USAGE, "--tasks: two tasks have the name '%s'.\nGive each a name of its own.",
                              tasks[i].name);
            }
        }
        const int code = read_task(&tasks[*count], &fields, policy);
        if (code != EXIT_MEASURED) {
            return code;
        }
        (*count)++;
        if (*at == '\0') {
            return EXIT_MEASURED;
        }
    }
}
