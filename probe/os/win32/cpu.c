/* CPUs, which Windows has in groups of up to 64: ours are numbered through, one group after the other. */
#include "win32.h"

#include "format.h"

enum { CPUS_KNOWN = 4096 };

static atomic_bool has_thread[CPUS_KNOWN];

int32_t os_cpu_limit(void)
{
    return (int32_t)GetMaximumProcessorCount(ALL_PROCESSOR_GROUPS);
}

bool win32_affinity_of(int32_t cpu, GROUP_AFFINITY *affinity)
{
    const WORD groups = GetMaximumProcessorGroupCount();
    DWORD place = cpu < 0 ? MAXDWORD : (DWORD)cpu;
    for (WORD group = 0; group < groups; group++) {
        const DWORD most = GetMaximumProcessorCount(group);
        if (place < most) {
            *affinity = (GROUP_AFFINITY){.Mask = (KAFFINITY)1 << place, .Group = group};
            return place < GetActiveProcessorCount(group);
        }
        place -= most;
    }
    return false;
}

int32_t win32_cpu_of(const GROUP_AFFINITY *affinity)
{
    int32_t cpu = 0;
    if (affinity->Mask == 0 || (affinity->Mask & (affinity->Mask - 1)) != 0) {
        return OS_CPU_ANY;
    }
    for (WORD group = 0; group < affinity->Group; group++) {
        cpu += (int32_t)GetMaximumProcessorCount(group);
    }
    return cpu + __builtin_ctzll(affinity->Mask);
}

bool os_cpu_is_online(int32_t cpu)
{
    GROUP_AFFINITY affinity;
    return win32_affinity_of(cpu, &affinity);
}

/* The mask of the process speaks of its own group alone, and threads may be put into any other one. */
static bool is_in_mask(int32_t cpu, bool in_other_groups)
{
    GROUP_AFFINITY wanted;
    GROUP_AFFINITY own;
    DWORD_PTR process = 0;
    DWORD_PTR all = 0;
    if (!win32_affinity_of(cpu, &wanted)) {
        return false;
    }
    if (!GetThreadGroupAffinity(GetCurrentThread(), &own) || own.Group != wanted.Group) {
        return in_other_groups;
    }
    return !GetProcessAffinityMask(GetCurrentProcess(), &process, &all) || process == 0 || (process & wanted.Mask) != 0;
}

bool os_cpu_is_allowed(int32_t cpu)
{
    return is_in_mask(cpu, true);
}

bool os_cpu_is_inherited(int32_t cpu)
{
    return is_in_mask(cpu, false);
}

void win32_note_cpu(int32_t cpu)
{
    if (cpu >= 0 && cpu < CPUS_KNOWN) {
        atomic_store(&has_thread[cpu], true);
    }
}

bool os_cpu_has_thread(int32_t cpu)
{
    return cpu >= 0 && cpu < CPUS_KNOWN && atomic_load(&has_thread[cpu]);
}

void os_cpus_online_text(char *text, size_t bytes)
{
    const int32_t limit = os_cpu_limit();
    size_t at = 0;
    text[0] = '\0';
    for (int32_t cpu = 0; cpu < limit && at < bytes; cpu++) {
        if (!os_cpu_is_online(cpu)) {
            continue;
        }
        const int32_t first = cpu;
        while (os_cpu_is_online(cpu + 1)) {
            cpu++;
        }
        at += format_text(text + at, bytes - at, "%s%d", at > 0 ? "," : "", (int)first);
        if (cpu > first && at < bytes) {
            at += format_text(text + at, bytes - at, "-%d", (int)cpu);
        }
    }
}

static KAFFINITY whole(WORD group)
{
    const DWORD count = GetActiveProcessorCount(group);
    return count >= 8 * sizeof(KAFFINITY) ? ~(KAFFINITY)0 : ((KAFFINITY)1 << count) - 1;
}

static void unpin(struct os_thread *thread)
{
    GROUP_AFFINITY affinity;
    if (GetThreadGroupAffinity(thread->handle, &affinity)) {
        affinity.Mask = whole(affinity.Group);
        (void)SetThreadGroupAffinity(thread->handle, &affinity, NULL);
    }
}

void os_threads_unpin(void)
{
    win32_for_each_thread(unpin);
}

/* A thread is in one group: that of the first CPU. */
enum os_status os_thread_keep_to(const int32_t *cpus, uint32_t count)
{
    GROUP_AFFINITY wanted = {0};
    for (uint32_t i = 0; i < count; i++) {
        GROUP_AFFINITY one;
        if (!win32_affinity_of(cpus[i], &one)) {
            return OS_INVALID;
        }
        if (wanted.Mask == 0) {
            wanted = one;
        } else if (one.Group == wanted.Group) {
            wanted.Mask |= one.Mask;
        }
    }
    return SetThreadGroupAffinity(GetCurrentThread(), &wanted, NULL) ? OS_OK : win32_status(GetLastError());
}
