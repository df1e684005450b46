/* Writing, without overwriting what somebody measured before: CreateFile, WriteFile. */
#include "win32.h"

#include <string.h>

struct os_output os_output_standard(void)
{
    return (struct os_output){(intptr_t)GetStdHandle(STD_OUTPUT_HANDLE)};
}

struct os_output os_output_error(void)
{
    return (struct os_output){(intptr_t)GetStdHandle(STD_ERROR_HANDLE)};
}

static enum os_status judge(HANDLE file)
{
    BY_HANDLE_FILE_INFORMATION found;
    switch (GetFileType(file)) {
    case FILE_TYPE_CHAR:
    case FILE_TYPE_PIPE:
        return OS_OK;
    case FILE_TYPE_DISK:
        break;
    default:
        return OS_IS_DEVICE;
    }
    if (!GetFileInformationByHandle(file, &found)) {
        return win32_status(GetLastError());
    }
    if ((found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
        return OS_IS_LINK;
    }
    if (found.nFileSizeHigh != 0 || found.nFileSizeLow != 0) {
        return OS_EXISTS;
    }
    return found.nNumberOfLinks <= 1 ? OS_OK : OS_OF_OTHERS;
}

static enum os_status open_what_is_there(const char *path, struct os_output *output)
{
    const DWORD attributes = GetFileAttributesA(path);
    if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
        return OS_IS_FOLDER;
    }
    HANDLE file = CreateFileA(path, GENERIC_WRITE | FILE_READ_ATTRIBUTES, FILE_SHARE_READ, NULL, OPEN_EXISTING,
                                    FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (file == INVALID_HANDLE_VALUE) {
        return win32_status(GetLastError());
    }
    const enum os_status status = judge(file);
    if (status != OS_OK) {
        CloseHandle(file);
        return status;
    }
    output->handle = (intptr_t)file;
    return OS_OK;
}

enum os_status os_output_open(const char *path, struct os_output *output)
{
    if (strcmp(path, "-") == 0) {
        *output = os_output_standard();
        return OS_OK;
    }
    HANDLE file = CreateFileA(path, GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE) {
        return open_what_is_there(path, output);
    }
    output->handle = (intptr_t)file;
    return OS_OK;
}

enum os_status os_output_write(struct os_output output, const void *data, size_t bytes)
{
    enum { AT_ONCE = 1 << 20 };
    const char *at = data;
    while (bytes > 0) {
        DWORD written = 0;
        if (!WriteFile((HANDLE)output.handle, at, bytes < AT_ONCE ? (DWORD)bytes : (DWORD)AT_ONCE, &written, NULL)) {
            return win32_status(GetLastError());
        }
        at += written;
        bytes -= written;
    }
    return OS_OK;
}

enum os_status os_output_close(struct os_output output)
{
    if (output.handle == os_output_standard().handle || output.handle == os_output_error().handle) {
        return OS_OK;
    }
    return CloseHandle((HANDLE)output.handle) ? OS_OK : win32_status(GetLastError());
}
