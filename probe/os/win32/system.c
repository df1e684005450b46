/* The proof that this is Windows, or what passes for it, and the facts about it. */
#include "win32.h"

#include "format.h"
#include "message.h"

#include <string.h>

void (*win32_find(const char *library, const char *name))(void)
{
    HMODULE module = GetModuleHandleA(library);
    return module != NULL ? (void (*)(void))GetProcAddress(module, name) : NULL;
}

/* Wine says who it is; Windows has no such function. */
const char *win32_emulator(void)
{
    static char text[65];
    typedef const char *version_call(void);
    version_call *const version = (version_call *)win32_find("ntdll.dll", "wine_get_version");
    if (version == NULL) {
        return NULL;
    }
    format_text(text, sizeof text, "Wine %s", version());
    return text;
}

enum os_status os_system_begin(const char **why)
{
    *why = "";
    if (win32_find("kernelbase.dll", "WaitOnAddress") == NULL) {
        *why = "this probe needs Windows 8 or later.\nMeasure on a newer one.";
        return OS_UNSUPPORTED;
    }
    if (!win32_clock_begin()) {
        *why = "this system has no performance counter (QueryPerformanceFrequency).\nMeasure on another one.";
        return OS_UNSUPPORTED;
    }
    win32_priority_begin();
    win32_cpu_time_begin();
    const enum os_status status = win32_thread_begin();
    *why = status == OS_OK ? "" : "a waitable timer can't be had.\nEnd other programs, and try again.";
    if (win32_emulator() != NULL) {
        warn_of("emulated", "%s stands in for Windows: what works here may not work there, and times say nothing about Windows.",
                win32_emulator());
    }
    return status;
}

/* GetVersionEx says what the program was written for; this says what there is. */
static void read_version(struct os_facts *facts)
{
    typedef LONG WINAPI version_call(OSVERSIONINFOW *);
    OSVERSIONINFOW version = {.dwOSVersionInfoSize = sizeof version};
    version_call *const read = (version_call *)win32_find("ntdll.dll", "RtlGetVersion");
    if (read != NULL && read(&version) == 0) {
        format_text(facts->release, sizeof facts->release, "%lu.%lu.%lu", version.dwMajorVersion, version.dwMinorVersion,
                    version.dwBuildNumber);
    }
    format_text(facts->version, sizeof facts->version, "%s waitable timers, %s",
                win32_timer_is_fine() ? "high-resolution" : "ordinary",
                win32_may_be_realtime() ? "class REALTIME" : "class HIGH");
}

static const char *machine_of(WORD architecture)
{
    switch (architecture) {
    case PROCESSOR_ARCHITECTURE_AMD64:
        return "x86_64";
    case PROCESSOR_ARCHITECTURE_ARM64:
        return "aarch64";
    default:
        return "unknown";
    }
}

void os_facts_read(struct os_facts *facts)
{
    SYSTEM_INFO info;
    memset(facts, 0, sizeof *facts);
    GetNativeSystemInfo(&info);
    format_text(facts->name, sizeof facts->name, "Windows");
    format_text(facts->machine, sizeof facts->machine, "%s", machine_of(info.wProcessorArchitecture));
    read_version(facts);
    if (win32_emulator() != NULL) {
        format_text(facts->emulator, sizeof facts->emulator, "%s", win32_emulator());
    }
}

enum os_status win32_status(DWORD error)
{
    switch (error) {
    case ERROR_SUCCESS:
        return OS_OK;
    case ERROR_ACCESS_DENIED:
    case ERROR_PRIVILEGE_NOT_HELD:
    case ERROR_WRITE_PROTECT:
    case ERROR_SHARING_VIOLATION:
        return OS_NOT_PERMITTED;
    case ERROR_NOT_SUPPORTED:
    case ERROR_CALL_NOT_IMPLEMENTED:
        return OS_UNSUPPORTED;
    case ERROR_INVALID_PARAMETER:
    case ERROR_INVALID_NAME:
    case ERROR_INVALID_HANDLE:
        return OS_INVALID;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT:
    case ERROR_WORKING_SET_QUOTA:
    case ERROR_NO_SYSTEM_RESOURCES:
        return OS_NO_MEMORY;
    case ERROR_SEM_TIMEOUT:
    case ERROR_TIMEOUT:
    case WAIT_TIMEOUT:
        return OS_TIMED_OUT;
    case ERROR_OPERATION_ABORTED:
        return OS_INTERRUPTED;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
        return OS_EXISTS;
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
        return OS_NOT_FOUND;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
        return OS_NO_SPACE;
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
        return OS_CLOSED;
    default:
        return OS_FAILED;
    }
}
