/* Memory that never faults while measuring: VirtualAlloc, VirtualLock, and a working set that has room for it. */
#include "win32.h"

#include <psapi.h>

enum { PAGE_BYTES = 4096, MARGIN_BYTES = 8 << 20, HARD_MINIMUM = 1 }; /* QUOTA_LIMITS_HARDWS_MIN_ENABLE */

static atomic_bool keeps;

static bool widen(size_t bytes)
{
    SIZE_T least = 0;
    SIZE_T most = 0;
    DWORD flags = 0;
    HANDLE own = GetCurrentProcess();
    if (!GetProcessWorkingSetSizeEx(own, &least, &most, &flags)) {
        return false;
    }
    least += bytes;
    most = most > least + MARGIN_BYTES ? most : least + MARGIN_BYTES;
    return SetProcessWorkingSetSizeEx(own, least, most, HARD_MINIMUM) != 0;
}

static enum os_status lock_range(void *memory, size_t bytes)
{
    if (VirtualLock(memory, bytes) || (widen(bytes + PAGE_BYTES) && VirtualLock(memory, bytes))) {
        return OS_OK;
    }
    const enum os_status status = win32_status(GetLastError());
    return status == OS_NO_MEMORY ? OS_NOT_PERMITTED : status;
}

static bool is_to_be_locked(const MEMORY_BASIC_INFORMATION *range)
{
    return range->State == MEM_COMMIT && (range->Protect & (PAGE_GUARD | PAGE_NOACCESS)) == 0 && range->Protect != 0;
}

/* What the program itself, its heap and its libraries are. A page that can't be locked is shared with the system. */
enum os_status os_memory_lock(void)
{
    MEMORY_BASIC_INFORMATION range;
    size_t bytes = MARGIN_BYTES;
    const char *at = NULL;
    for (; VirtualQuery(at, &range, sizeof range) != 0; at = (const char *)range.BaseAddress + range.RegionSize) {
        bytes += is_to_be_locked(&range) ? range.RegionSize : 0;
    }
    if (!widen(bytes)) {
        return OS_NOT_PERMITTED;
    }
    bool own_locked = false;
    for (at = NULL; VirtualQuery(at, &range, sizeof range) != 0; at = (const char *)range.BaseAddress + range.RegionSize) {
        if (is_to_be_locked(&range) && VirtualLock(range.BaseAddress, range.RegionSize)) {
            own_locked = own_locked || (uintptr_t)&keeps - (uintptr_t)at < range.RegionSize;
        }
    }
    if (!own_locked) {
        return OS_NOT_PERMITTED;
    }
    atomic_store(&keeps, true); /* from now on, what is allocated too */
    return OS_OK;
}

/* The working set grows as it is needed. */
int64_t os_memory_lock_limit_bytes(void)
{
    return INT64_MAX;
}

/* As the system says of one page of ours. */
bool os_memory_is_locked(void)
{
    PSAPI_WORKING_SET_EX_INFORMATION page = {.VirtualAddress = &keeps};
    return atomic_load(&keeps) && K32QueryWorkingSetEx(GetCurrentProcess(), &page, sizeof page) &&
           page.VirtualAttributes.Valid && page.VirtualAttributes.Locked;
}

/* All that is committed of it: a query tells what lies above an address, and a stack grows downwards. */
void win32_lock_stack(void)
{
    MEMORY_BASIC_INFORMATION range;
    const char here = 0;
    if (!atomic_load(&keeps) || VirtualQuery(&here, &range, sizeof range) == 0) {
        return;
    }
    const void *const stack = range.AllocationBase;
    for (const char *at = stack; VirtualQuery(at, &range, sizeof range) != 0 && range.AllocationBase == stack;
         at = (const char *)range.BaseAddress + range.RegionSize) {
        if (is_to_be_locked(&range)) {
            (void)lock_range(range.BaseAddress, range.RegionSize);
        }
    }
}

int64_t os_memory_available_bytes(void)
{
    MEMORYSTATUSEX found = {.dwLength = sizeof found};
    if (!GlobalMemoryStatusEx(&found)) {
        return INT64_MAX;
    }
    const uint64_t left = found.ullAvailPhys < found.ullAvailPageFile ? found.ullAvailPhys : found.ullAvailPageFile;
    return left < (uint64_t)INT64_MAX ? (int64_t)left : INT64_MAX;
}

static bool node_of(int32_t cpu, USHORT *node)
{
    GROUP_AFFINITY affinity;
    if (!win32_affinity_of(cpu, &affinity)) {
        return false;
    }
    PROCESSOR_NUMBER number = {.Group = affinity.Group, .Number = (BYTE)__builtin_ctzll(affinity.Mask)};
    return GetNumaProcessorNodeEx(&number, node) != 0;
}

/* Touched page by page, for the system gives zeroed memory already. */
static enum os_status make_resident(void *memory, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PAGE_BYTES) {
        ((volatile unsigned char *)memory)[at] = 0;
    }
    return atomic_load(&keeps) ? lock_range(memory, bytes) : OS_OK;
}

enum os_status os_memory_allocate_near(void **memory, size_t bytes, int32_t cpu)
{
    USHORT node = 0;
    void *const made = node_of(cpu, &node)
                           ? VirtualAllocExNuma(GetCurrentProcess(), NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE, node)
                           : VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (made == NULL) {
        return win32_status(GetLastError());
    }
    const enum os_status status = make_resident(made, bytes);
    if (status != OS_OK) {
        os_memory_free(made, bytes);
        return status;
    }
    *memory = made;
    return OS_OK;
}

enum os_status os_memory_allocate(void **memory, size_t bytes)
{
    return os_memory_allocate_near(memory, bytes, OS_CPU_ANY);
}

/* What is asked for here is freed as it was allocated: as a whole. */
void os_memory_free(void *memory, size_t bytes)
{
    (void)bytes;
    if (memory != NULL) {
        VirtualFree(memory, 0, MEM_RELEASE);
    }
}
