/* A FIFO over pipe(2). */
#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct os_fifo {
    int ends[2]; /* read, write */
};

enum os_status os_fifo_create(struct os_fifo **fifo)
{
    struct os_fifo *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    if (pipe(made->ends) != 0) {
        free(made);
        return os_status_from_errno(errno);
    }
    *fifo = made;
    return OS_OK;
}

void os_fifo_destroy(struct os_fifo *fifo)
{
    if (fifo != NULL) {
        close(fifo->ends[0]);
        close(fifo->ends[1]);
        free(fifo);
    }
}

/* After a call that moved nothing: is it made again? */
static bool tries_again(int error, bool may_stop)
{
    return error == EINTR && !(may_stop && os_stop_requested() != OS_STOP_NONE);
}

static enum os_status write_all(int file, const char *data, size_t bytes, bool may_stop)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t written = write(file, data + done, bytes - done);
        if (written < 0 && !tries_again(errno, may_stop)) {
            return os_status_from_errno(errno);
        }
        done += written > 0 ? (size_t)written : 0;
    }
    return OS_OK;
}

static enum os_status read_all(int file, char *data, size_t bytes, bool may_stop)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = read(file, data + done, bytes - done);
        if (got == 0 || (got < 0 && !tries_again(errno, may_stop))) {
            return got == 0 ? OS_FAILED : os_status_from_errno(errno);
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return OS_OK;
}

enum os_status os_fifo_write(struct os_fifo *fifo, const void *data, size_t bytes)
{
    return write_all(fifo->ends[1], data, bytes, false);
}

enum os_status os_fifo_read(struct os_fifo *fifo, void *data, size_t bytes)
{
    return read_all(fifo->ends[0], data, bytes, false);
}

enum os_status os_fifo_write_or_stop(struct os_fifo *fifo, const void *data, size_t bytes)
{
    return write_all(fifo->ends[1], data, bytes, true);
}

enum os_status os_fifo_read_or_stop(struct os_fifo *fifo, void *data, size_t bytes)
{
    return read_all(fifo->ends[0], data, bytes, true);
}
