#include "guest/prepare.h"

#include "format.h"
#include "os/boot.h"
#include "os/settings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_PATH = 512, MOST_OPEN_FILES = 524288 }; /* as many as systemd allows */

struct file_system {
    const char *kind;
    const char *folder;
    const char *options;
    bool may_be_missing; /* not every kernel has it, and few miss it */
};

/* In this order: some lie in others. */
static const struct file_system file_systems[] = {
    {"proc", "/proc", NULL, false},
    {"sysfs", "/sys", NULL, false},
    {"devtmpfs", "/dev", "mode=0755", false},
    {"devpts", "/dev/pts", "gid=5,mode=620,ptmxmode=666", false},
    {"tmpfs", "/dev/shm", "mode=1777", false},
    {"mqueue", "/dev/mqueue", NULL, true},
    {"tmpfs", "/run", "mode=0755", false},
    {"tmpfs", "/tmp", "mode=1777", false},
    {"cgroup2", "/sys/fs/cgroup", NULL, true},
    {"debugfs", "/sys/kernel/debug", NULL, true},
    {"tracefs", "/sys/kernel/tracing", NULL, true},
};

static const char *const links[][2] = {
    {"/dev/fd", "/proc/self/fd"},
    {"/dev/stdin", "/proc/self/fd/0"},
    {"/dev/stdout", "/proc/self/fd/1"},
    {"/dev/stderr", "/proc/self/fd/2"},
};

static void tell(struct text *told, const char *what, enum os_fault problem)
{
    if (problem != FAULT_NONE) {
        text_format(told, "problem=%s: %s\n", what, os_fault_text(problem));
    }
}

static void mount_all(struct text *told)
{
    for (size_t i = 0; i < sizeof file_systems / sizeof file_systems[0]; i++) {
        const struct file_system *const wanted = &file_systems[i];
        const enum os_fault problem = os_file_system_mount(wanted->kind, wanted->folder, wanted->options);
        const bool is_there = problem == FAULT_EBUSY;
        const bool is_unknown = problem == FAULT_ENODEV || problem == FAULT_ENOENT;
        if (!is_there && !(is_unknown && wanted->may_be_missing)) {
            tell(told, wanted->folder, problem);
        }
    }
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void load_module(const char *name, struct text *told)
{
    char path[LONGEST_PATH];
    format_text(path, sizeof path, "/modules/%s", name);
    const enum os_fault problem = os_kernel_module_load(path);
    if (problem != FAULT_EEXIST) { /* it is part of this kernel */
        tell(told, path, problem);
    }
}

/* The lab has numbered them in the order of what they need. */
static void load_modules(struct text *told)
{
    struct text names = {0};
    if (os_folder_names("/modules", &names) != FAULT_NONE || names.length == 0) {
        text_free(&names);
        return;
    }
    char **const sorted = calloc(names.length, sizeof *sorted); /* each has one character at least */
    size_t count = 0;
    char *rest = NULL;
    for (char *name = strtok_r(names.data, "\n", &rest); name != NULL && sorted != NULL;
         name = strtok_r(NULL, "\n", &rest)) {
        const size_t length = strlen(name);
        if (length > strlen(".ko") && strcmp(name + length - strlen(".ko"), ".ko") == 0) {
            sorted[count++] = name;
        }
    }
    if (count > 0) {
        qsort(sorted, count, sizeof *sorted, by_name);
    }
    for (size_t i = 0; i < count; i++) {
        load_module(sorted[i], told);
    }
    free(sorted);
    text_free(&names);
}

static void set(const char *path, const char *value, struct text *told)
{
    tell(told, path, os_file_write(path, value, strlen(value), false));
}

/* Control groups may divide the CPUs, where the kernel knows that. */
static void offer_cpusets(struct text *told)
{
    struct text controllers = {0};
    (void)os_file_read("/sys/fs/cgroup/cgroup.controllers", &controllers);
    if (strstr(text_string(&controllers), "cpuset") != NULL) {
        set("/sys/fs/cgroup/cgroup.subtree_control", "+cpuset", told);
    }
    text_free(&controllers);
}

void prepare_system(struct text *told)
{
    mount_all(told);
    tell(told, "/dev/console", os_console_take());
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        const enum os_fault problem = os_link_make(links[i][0], links[i][1]);
        if (problem != FAULT_EEXIST) {
            tell(told, links[i][0], problem);
        }
    }
    (void)os_folder_make("/root"); /* HOME; where it is there already, so be it */
    offer_cpusets(told);
    tell(told, "the loopback interface", os_loopback_start());
    tell(told, "the host's name", os_host_name_set("lab"));
    tell(told, "the limit of open files", os_open_files_allow(MOST_OPEN_FILES));
    load_modules(told);
    /* A line on the console costs 10 us of guest time, amid a measurement. A panic is shown all the same. */
    set("/proc/sys/kernel/printk", "1", told);
}

static int32_t count_cpus(void)
{
    int32_t count = 0;
    for (int32_t cpu = 0; cpu < os_cpu_limit(); cpu++) {
        count += os_cpu_is_online(cpu);
    }
    return count;
}

void describe_system(struct text *told)
{
    struct os_facts facts;
    os_facts_read(&facts);
    text_format(told, "uname=%s %s %s %s\n", facts.name, facts.release, facts.version, facts.machine);
    text_format(told, "cpus=%" PRId32 "\n", count_cpus());
}

void stay_out_of_the_way(void)
{
    if (count_cpus() < 2) {
        return;
    }
    for (int32_t cpu = 0; cpu < os_cpu_limit(); cpu++) {
        if (os_cpu_is_inherited(cpu)) {
            (void)os_thread_keep_to(&cpu, 1);
            return;
        }
    }
}
