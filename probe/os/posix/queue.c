/* Message queues: mq_overview(7). */
#include "format.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct os_message_queue {
    mqd_t native;
    size_t message_bytes;
};

/* The name is taken off at once: the queue lives as long as this process, whatever ends it. */
enum os_status os_message_queue_create(struct os_message_queue **queue, size_t messages, size_t message_bytes)
{
    static atomic_uint serial;
    char name[48];
    format_text(name, sizeof name, "/tautochrone-%ld-%u", (long)getpid(), atomic_fetch_add(&serial, 1U));

    struct os_message_queue *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    struct mq_attr attributes = {.mq_maxmsg = (long)messages, .mq_msgsize = (long)message_bytes};
    made->message_bytes = message_bytes;
    made->native = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes);
    if (made->native == (mqd_t)-1) {
        const int error = errno;
        free(made);
        return os_status_from_errno(error);
    }
    mq_unlink(name);
    *queue = made;
    return OS_OK;
}

void os_message_queue_destroy(struct os_message_queue *queue)
{
    if (queue != NULL) {
        mq_close(queue->native);
        free(queue);
    }
}

enum os_status os_message_queue_send(struct os_message_queue *queue, const void *data, size_t bytes)
{
    while (mq_send(queue->native, data, bytes, 0) != 0) {
        if (errno != EINTR) {
            return os_status_from_errno(errno);
        }
    }
    return OS_OK;
}

enum os_status os_message_queue_receive(struct os_message_queue *queue, void *data, size_t *received_bytes)
{
    for (;;) {
        const ssize_t got = mq_receive(queue->native, data, queue->message_bytes, NULL);
        if (got >= 0) {
            if (received_bytes != NULL) {
                *received_bytes = (size_t)got;
            }
            return OS_OK;
        }
        if (errno != EINTR) {
            return os_status_from_errno(errno);
        }
    }
}
