#include "record/housekeeping.h"

#include "message.h"

enum { CPUS_KNOWN = 4096 };

static bool avoided[CPUS_KNOWN];

void housekeeping_avoid(int32_t cpu)
{
    if (cpu >= 0 && cpu < CPUS_KNOWN) {
        avoided[cpu] = true;
    }
}

static bool is_measured(int32_t cpu)
{
    return os_cpu_has_thread(cpu) || (cpu < CPUS_KNOWN && avoided[cpu]);
}

/* Those that this process runs on by itself: neither isolated ones, nor such that it was kept from. */
static bool is_ours(int32_t cpu)
{
    return os_cpu_is_online(cpu) && os_cpu_is_inherited(cpu);
}

int housekeeping_choose(struct housekeeping *house, const char *text)
{
    struct cpu_list *const chosen = &house->cpus;
    chosen->count = 0;
    if (text != NULL) {
        const int code = cpu_list_read_option(chosen, "housekeeping", text);
        if (code == EXIT_MEASURED && chosen->cpus[0] == OS_CPU_ANY) {
            chosen->count = 0;
        }
        return code;
    }
    bool some_are_measured = false;
    for (int32_t cpu = 0; cpu < os_cpu_limit(); cpu++) {
        if (is_measured(cpu)) {
            some_are_measured = true;
        } else if (is_ours(cpu) && chosen->count < CPU_LIST_LIMIT) {
            chosen->cpus[chosen->count++] = cpu;
        }
    }
    chosen->count = some_are_measured ? chosen->count : 0;
    return EXIT_MEASURED;
}

enum os_status housekeeping_begin(struct housekeeping *house)
{
    if (house->cpus.count == 0) {
        return OS_OK;
    }
    house->left.count = 0;
    for (int32_t cpu = 0; cpu < os_cpu_limit() && house->left.count < CPU_LIST_LIMIT; cpu++) {
        if (is_ours(cpu)) {
            house->left.cpus[house->left.count++] = cpu;
        }
    }
    return os_thread_keep_to(house->cpus.cpus, house->cpus.count);
}

void housekeeping_end(const struct housekeeping *house)
{
    if (house->left.count > 0) {
        (void)os_thread_keep_to(house->left.cpus, house->left.count); /* where it was can't be refused */
    }
}

void housekeeping_to_json(struct json *json, const char *asked, const struct housekeeping *house)
{
    char text[CPU_LIST_TEXT_BYTES];
    cpu_list_to_text(&house->cpus, text);
    json_open_object(json, "housekeeping");
    json_text_or_null(json, "requested", asked);
    json_text_or_null(json, "obtained", house->cpus.count > 0 ? text : NULL);
    json_close_object(json);
}
