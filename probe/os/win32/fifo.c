/* A FIFO over CreatePipe. */
#include "win32.h"

#include "os/realtime.h"

#include <stdlib.h>

struct os_fifo {
    HANDLE in;
    HANDLE out;
};

enum os_status os_fifo_create(struct os_fifo **fifo)
{
    enum { ROOM_BYTES = 65536 };
    struct os_fifo *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    if (!CreatePipe(&made->in, &made->out, NULL, ROOM_BYTES)) {
        free(made);
        return win32_status(GetLastError());
    }
    *fifo = made;
    return OS_OK;
}

void os_fifo_destroy(struct os_fifo *fifo)
{
    if (fifo != NULL) {
        CloseHandle(fifo->in);
        CloseHandle(fifo->out);
        free(fifo);
    }
}

/* After a call that moved nothing: is it made again? */
static bool tries_again(DWORD error, bool may_stop)
{
    return error == ERROR_OPERATION_ABORTED && !(may_stop && os_stop_requested() != OS_STOP_NONE);
}

static enum os_status write_all(HANDLE out, const char *data, size_t bytes, bool may_stop)
{
    for (size_t at = 0; at < bytes;) {
        DWORD done = 0;
        if (!WriteFile(out, data + at, (DWORD)(bytes - at), &done, NULL) && !tries_again(GetLastError(), may_stop)) {
            return win32_status(GetLastError());
        }
        at += done;
    }
    return OS_OK;
}

static enum os_status read_all(HANDLE in, char *data, size_t bytes, bool may_stop)
{
    for (size_t at = 0; at < bytes;) {
        DWORD done = 0;
        if (!ReadFile(in, data + at, (DWORD)(bytes - at), &done, NULL) && !tries_again(GetLastError(), may_stop)) {
            return win32_status(GetLastError());
        }
        at += done;
    }
    return OS_OK;
}

enum os_status os_fifo_write(struct os_fifo *fifo, const void *data, size_t bytes)
{
    return write_all(fifo->out, data, bytes, false);
}

enum os_status os_fifo_read(struct os_fifo *fifo, void *data, size_t bytes)
{
    return read_all(fifo->in, data, bytes, false);
}

enum os_status os_fifo_write_or_stop(struct os_fifo *fifo, const void *data, size_t bytes)
{
    return write_all(fifo->out, data, bytes, true);
}

enum os_status os_fifo_read_or_stop(struct os_fifo *fifo, void *data, size_t bytes)
{
    return read_all(fifo->in, data, bytes, true);
}
