/*
 * The mailbox's memory, and calls through it. All accesses are volatile: the compiler keeps their order, and a store to
 * the gate leaves the virtual CPU, which everything before it has reached by then.
 */
#include "mailbox_memory.h"

#include "os/posix/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Memory of a device may be touched at its natural alignment only (arm64). */
typedef uint64_t word;

void os_mailbox_store(struct os_mailbox *mailbox, size_t offset, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    while (bytes > 0) {
        const size_t step = offset % sizeof(word) == 0 && bytes >= sizeof(word) ? sizeof(word) : 1;
        volatile void *const place = mailbox->memory + offset;
        if (step == 1) {
            *(volatile unsigned char *)place = *from;
        } else {
            word value;
            memcpy(&value, from, sizeof value);
            *(volatile word *)place = value;
        }
        offset += step;
        from += step;
        bytes -= step;
    }
}

void os_mailbox_load(const struct os_mailbox *mailbox, size_t offset, void *data, size_t bytes)
{
    unsigned char *to = data;
    while (bytes > 0) {
        const size_t step = offset % sizeof(word) == 0 && bytes >= sizeof(word) ? sizeof(word) : 1;
        const volatile void *const place = mailbox->memory + offset;
        if (step == 1) {
            *to = *(const volatile unsigned char *)place;
        } else {
            const word value = *(const volatile word *)place;
            memcpy(to, &value, sizeof value);
        }
        offset += step;
        to += step;
        bytes -= step;
    }
}

static bool send_byte(const struct os_mailbox *mailbox, unsigned char byte)
{
    if (mailbox->transmit != NULL) {
        *mailbox->transmit = byte;
        return true;
    }
    ssize_t written;
    do {
        written = write(mailbox->pipe, &byte, 1);
    } while (written < 0 && errno == EINTR);
    return written == 1;
}

/* The first byte says that there is a call; the second one gets in when the lab has answered and taken the first. */
enum os_status os_mailbox_call(struct os_mailbox *mailbox)
{
    return send_byte(mailbox, 1) && send_byte(mailbox, 2) ? OS_OK : OS_CLOSED;
}

void *mailbox_map(const char *path, size_t bytes)
{
    const int file = open(path, O_RDWR | O_CLOEXEC);
    struct stat found;
    if (file < 0) {
        return NULL;
    }
    if (fstat(file, &found) != 0 || found.st_size < (off_t)bytes) {
        close(file);
        errno = EINVAL;
        return NULL;
    }
    void *const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const int error = errno;
    close(file);
    errno = error;
    return memory == MAP_FAILED ? NULL : memory;
}

enum os_status os_mailbox_open_file(struct os_mailbox **mailbox, size_t bytes, const char *path, intptr_t gate,
                                    struct text *problem)
{
    struct os_mailbox *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    made->pipe = (int)gate;
    made->memory = mailbox_map(path, bytes);
    if (made->memory == NULL || fcntl(made->pipe, F_SETFD, FD_CLOEXEC) != 0) {
        const enum os_status status = os_status_from_errno(errno);
        text_format(problem, "%s: %s", made->memory == NULL ? path : "the gate", os_status_text(status));
        free(made);
        return status;
    }
    *mailbox = made;
    return OS_OK;
}
