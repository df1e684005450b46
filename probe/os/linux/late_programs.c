#include "os/linux/late_programs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* sched_switch: previous, next. */
#define ARGUMENT(number) {.how = VALUE, .nth = (number)}
#define OF_THREAD(nth, what, member_name) {what, nth, false, "task_struct", member_name}
#define VECTOR(name, number)                                                                                          \
    {.tracepoint = #name "_entry",                                                                                    \
     .kind = OS_LATE_VECTOR_BEGIN,                                                                                    \
     .looks_at_steal = true,                                                                                          \
     .id = {.how = FIXED, .nth = (number)}},                                                                          \
    {                                                                                                                 \
        .tracepoint = #name "_exit", .kind = OS_LATE_VECTOR_END, .id = {.how = FIXED, .nth = (number)}                \
    }

static const struct late_source sources[] = {
    {.tracepoint = "sched_switch",
     .kind = OS_LATE_SWITCH,
     .looks_at_steal = true,
     .id = OF_THREAD(1, MEMBER, "pid"),
     .other = OF_THREAD(0, MEMBER, "pid"),
     .priority = OF_THREAD(1, MEMBER, "prio"),
     .address = OF_THREAD(0, STATE, "__state|state"),
     .name = OF_THREAD(1, LETTERS, "comm")},
    {.tracepoint = "sched_waking",
     .kind = OS_LATE_WAKE,
     .id = OF_THREAD(0, MEMBER, "pid"),
     .other = {MEMBER, 0, true, "task_struct", "thread_info.cpu|cpu"},
     .priority = OF_THREAD(0, MEMBER, "prio"),
     .name = OF_THREAD(0, LETTERS, "comm")},
    {.tracepoint = "irq_handler_entry",
     .kind = OS_LATE_IRQ_BEGIN,
     .looks_at_steal = true,
     .id = ARGUMENT(0),
     .address = {MEMBER, 0, true, "irqaction", "handler"},
     .name = {TEXT, 0, true, "irqaction", "name"}},
    {.tracepoint = "irq_handler_exit", .kind = OS_LATE_IRQ_END, .id = ARGUMENT(0)},
    {.tracepoint = "softirq_entry", .kind = OS_LATE_SOFTIRQ_BEGIN, .id = ARGUMENT(0)},
    {.tracepoint = "softirq_exit", .kind = OS_LATE_SOFTIRQ_END, .id = ARGUMENT(0)},
    {.tracepoint = "nmi_handler", .kind = OS_LATE_NMI, .other = ARGUMENT(1), .address = ARGUMENT(0)},
    VECTOR(local_timer, OS_LATE_VECTOR_LOCAL_TIMER),
    VECTOR(reschedule, OS_LATE_VECTOR_RESCHEDULE),
    VECTOR(call_function, OS_LATE_VECTOR_CALL_FUNCTION),
    VECTOR(call_function_single, OS_LATE_VECTOR_CALL_FUNCTION_SINGLE),
    VECTOR(irq_work, OS_LATE_VECTOR_IRQ_WORK),
    VECTOR(thermal_apic, OS_LATE_VECTOR_THERMAL),
    {.tracepoint = "ipi_entry", /* not on x86 */
     .kind = OS_LATE_VECTOR_BEGIN,
     .looks_at_steal = true,
     .id = {.how = FIXED, .nth = OS_LATE_VECTOR_OTHER},
     .name = {TEXT, 0, true, NULL, NULL}},
    {.tracepoint = "ipi_exit", .kind = OS_LATE_VECTOR_END, .id = {.how = FIXED, .nth = OS_LATE_VECTOR_OTHER}},
    {.tracepoint = "hrtimer_expire_entry",
     .kind = OS_LATE_TIMER_BEGIN,
     .id = {POINTED, 1, true, NULL, NULL},
     .other = {MEMBER, 0, true, "hrtimer", "_softexpires"},
     .address = {MEMBER, 0, true, "hrtimer", "function"}},
    {.tracepoint = "hrtimer_expire_exit", .kind = OS_LATE_TIMER_END},
    {.tracepoint = "cpu_idle", .kind = OS_LATE_IDLE_BEGIN, .ends = OS_LATE_IDLE_END, .id = ARGUMENT(0)},
    {.tracepoint = "cpu_frequency", .kind = OS_LATE_FREQUENCY, .cpu_argument = 1, .id = ARGUMENT(0)},
    {.tracepoint = "page_fault_user",
     .kind = OS_LATE_FAULT,
     .of_own_threads = true,
     .id = ARGUMENT(0),
     .address = {MEMBER, 0, true, "pt_regs", "ip|pc|epc"}},
    {.tracepoint = "page_fault_kernel",
     .kind = OS_LATE_FAULT,
     .of_own_threads = true,
     .id = ARGUMENT(0),
     .address = {MEMBER, 0, true, "pt_regs", "ip|pc|epc"}},
    {.tracepoint = "workqueue_execute_start",
     .kind = OS_LATE_WORK_BEGIN,
     .address = {MEMBER, 0, true, "work_struct", "func"}},
    {.tracepoint = "workqueue_execute_end", .kind = OS_LATE_WORK_END},
};
enum { SOURCES = sizeof sources / sizeof sources[0] };
_Static_assert((int)SOURCES <= (int)LATE_PROGRAMS_LIMIT, "there is room for all");

/* ---- What the hypervisor takes ----------------------------------------------- */

/* KVM's own record, on x86, is exact at any time. It counts only where the hypervisor keeps it, which shows in its version;
 * and a program finds a variable only in a kernel with CONFIG_KALLSYMS_ALL. */
static bool record_is_kept(uint32_t variable, uint32_t version_at)
{
    const struct bpf_instruction program[] = {
        {.code = LOAD_CONSTANT_8, .to = 1, .from = BPF_PSEUDO_BTF_ID, .immediate = (int32_t)variable},
        {0},
        {.code = CALL, .immediate = BPF_THIS_CPU_POINTER},
        {.code = LOAD_4, .to = 0, .from = 0, .offset = (int16_t)version_at},
        {.code = END},
    };
    uint32_t version = 0;
    const int loaded = bpf_load(BPF_RAW_TRACEPOINT, 0, program, sizeof program / sizeof program[0]);
    const bool is_kept = loaded >= 0 && bpf_try(loaded, &version) == 0 && version != 0;
    if (loaded >= 0) {
        close(loaded);
    }
    return is_kept;
}

enum { STEAL_WAYS = 3 };

/* The ways, the best first: KVM's record; what the run queue has of it, exact at switches; the kernel's own sum, brought up
 * to date by the timer's tick. */
static struct late_steal find_steal(const struct btf *btf, int way)
{
    enum { STEAL_INDEX = 7 }; /* CPUTIME_STEAL */
    struct btf_field field;
    struct btf_field other;
    const uint32_t record = way == 0 ? btf_find(btf, BTF_VARIABLE, "steal_time") : 0;
    if (record != 0 && btf_member(btf, "kvm_steal_time", "steal", &field) &&
        btf_member(btf, "kvm_steal_time", "version", &other) && record_is_kept(record, other.offset)) {
        return (struct late_steal){true, record, field.offset};
    }
    if (way == 1 && btf_member(btf, "task_struct", "se.cfs_rq", &other) &&
        btf_member(btf, "rq", "prev_steal_time_rq", &field)) {
        return (struct late_steal){true, 0, field.offset};
    }
    const uint32_t sum = way == 2 ? btf_find(btf, BTF_VARIABLE, "kernel_cpustat") : 0;
    if (sum != 0 && btf_member(btf, "kernel_cpustat", "cpustat", &field) && field.bytes > STEAL_INDEX * sizeof(uint64_t)) {
        return (struct late_steal){true, sum, field.offset + STEAL_INDEX * (uint32_t)sizeof(uint64_t)};
    }
    return (struct late_steal){false, 0, 0};
}

/* ---- Attaching ---------------------------------------------------------------- */

static bool attach(struct late_programs *programs, const struct late_plan *plan, const struct late_source *source)
{
    struct bpf_instruction code[LATE_INSTRUCTIONS_LIMIT];
    const uint32_t tracepoint = btf_tracepoint(plan->btf, source->tracepoint);
    int program = -1;
    errno = ENOENT;
    for (int with_optional = 1; tracepoint != 0 && with_optional >= 0 && program < 0; with_optional--) {
        const size_t count = late_program_write(code, plan, source, tracepoint, with_optional != 0);
        program = count > 0 ? bpf_load(BPF_TYPED_TRACEPOINT, tracepoint, code, count) : -1;
    }
    const int link = program >= 0 ? bpf_attach_raw(NULL, program) : -1;
    if (link < 0) {
        const int error = errno;
        if (program >= 0) {
            close(program);
        }
        errno = error;
        return false;
    }
    programs->programs[programs->count] = program;
    programs->links[programs->count] = link;
    programs->sources[programs->count] = source;
    programs->count++;
    return true;
}

static void tell_missing(const char *missing[OS_LATE_KIND_LIMIT])
{
    for (int kind = 0; kind < OS_LATE_KIND_LIMIT; kind++) {
        missing[kind] = "this kernel has no such tracepoint, or its programs may not use it";
    }
    missing[OS_LATE_SMI] = "the recorder's programs do not read the CPU's count";
}

/* The switch is the first of the sources, and must be there. It tells whether the count can be read. */
static bool attach_switch(struct late_programs *programs, struct late_plan *plan)
{
    for (int way = 0; way < STEAL_WAYS; way++) {
        plan->steal = find_steal(plan->btf, way);
        if (plan->steal.is_told && attach(programs, plan, &sources[0])) {
            return true;
        }
    }
    plan->steal.is_told = false;
    return attach(programs, plan, &sources[0]);
}

bool late_programs_attach(struct late_programs *programs, const struct late_maps *maps, const struct btf *btf,
                          const char *missing[OS_LATE_KIND_LIMIT])
{
    struct late_plan plan = {.btf = btf, .maps = *maps};
    programs->count = 0;
    tell_missing(missing);
    for (size_t i = 0; i < SOURCES; i++) {
        if (i == 0 ? attach_switch(programs, &plan) : attach(programs, &plan, &sources[i])) {
            missing[sources[i].kind] = NULL;
            missing[sources[i].ends] = NULL;
        } else if (i == 0) {
            return false;
        }
    }
    missing[OS_LATE_STACK] = maps->stacks >= 0 ? NULL : "this kernel has no map for stacks";
    missing[OS_LATE_STEAL] = plan.steal.is_told ? NULL : "this kernel keeps no count of it that a program can read";
    return true;
}

void late_programs_unlink(struct late_programs *programs)
{
    for (uint32_t i = 0; i < programs->count; i++) {
        if (programs->links[i] >= 0) {
            close(programs->links[i]);
            programs->links[i] = -1;
        }
    }
}

void late_programs_link(struct late_programs *programs, const char *missing[OS_LATE_KIND_LIMIT])
{
    for (uint32_t i = 0; i < programs->count; i++) {
        programs->links[i] = programs->links[i] < 0 ? bpf_attach_raw(NULL, programs->programs[i]) : programs->links[i];
        if (programs->links[i] < 0) {
            missing[programs->sources[i]->kind] = "its program could not be attached again";
        }
    }
}

void late_programs_detach(struct late_programs *programs)
{
    late_programs_unlink(programs);
    for (uint32_t i = 0; i < programs->count; i++) {
        close(programs->programs[i]);
    }
    programs->count = 0;
}

uint64_t late_programs_skipped(const struct late_programs *programs)
{
    uint64_t skipped = 0;
    for (uint32_t i = 0; i < programs->count; i++) {
        skipped += bpf_skipped(programs->programs[i]);
    }
    return skipped;
}
