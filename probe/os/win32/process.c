/* Other programs beside this one. Windows can't put one in this one's place: it is started, waited for, and its exit code
 * is ours. */
#include "win32.h"

#include "format.h"
#include "os/process.h"
#include "os/rights.h"

#include <process.h>
#include <string.h>

enum { PATH_BYTES = 1024 };

static bool own_folder(char folder[PATH_BYTES])
{
    const DWORD length = GetModuleFileNameA(NULL, folder, PATH_BYTES);
    char *const end = length > 0 && length < PATH_BYTES ? strrchr(folder, '\\') : NULL;
    if (end != NULL) {
        *end = '\0';
    }
    return end != NULL;
}

enum os_status os_program_find(const char *place, const char *name, char *path, size_t bytes)
{
    char folder[PATH_BYTES];
    const DWORD length = GetEnvironmentVariableA(place, folder, PATH_BYTES);
    if ((length == 0 || length >= PATH_BYTES) && !own_folder(folder)) {
        return OS_NOT_FOUND;
    }
    if (format_text(path, bytes, "%s\\%s.exe", folder, name) >= bytes ||
        GetFileAttributesA(path) == INVALID_FILE_ATTRIBUTES) {
        return OS_NOT_FOUND;
    }
    return OS_OK;
}

int os_program_ask(const char *path, char *const *argv)
{
    return (int)_spawnv(_P_WAIT, path, (const char *const *)argv);
}

enum os_status os_process_become(const char *place, const char *name, char *const *argv)
{
    char path[PATH_BYTES];
    const enum os_status status = os_program_find(place, name, path, sizeof path);
    if (status != OS_OK) {
        return status;
    }
    const int code = os_program_ask(path, argv);
    if (code == -1) {
        return OS_FAILED;
    }
    ExitProcess((UINT)code);
}

/* A file of Windows gives its program no rights. */
bool os_rights_are_of_another(void)
{
    return false;
}

enum os_status os_rights_give_back(void)
{
    return OS_OK;
}
