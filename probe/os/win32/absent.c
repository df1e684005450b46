/* What Windows lacks (service.c says why). */
#include "os/os.h"

enum os_status os_message_queue_create(struct os_message_queue **queue, size_t messages, size_t message_bytes)
{
    (void)messages;
    (void)message_bytes;
    *queue = NULL;
    return OS_UNSUPPORTED;
}

void os_message_queue_destroy(struct os_message_queue *queue)
{
    (void)queue;
}

enum os_status os_message_queue_send(struct os_message_queue *queue, const void *data, size_t bytes)
{
    (void)queue;
    (void)data;
    (void)bytes;
    return OS_UNSUPPORTED;
}

enum os_status os_message_queue_receive(struct os_message_queue *queue, void *data, size_t *received_bytes)
{
    (void)queue;
    (void)data;
    (void)received_bytes;
    return OS_UNSUPPORTED;
}

enum os_status os_spin_lock_create(struct os_spin_lock **lock)
{
    *lock = NULL;
    return OS_UNSUPPORTED;
}

void os_spin_lock_destroy(struct os_spin_lock *lock)
{
    (void)lock;
}

enum os_status os_spin_lock_acquire(struct os_spin_lock *lock, int64_t patience_ns)
{
    (void)lock;
    (void)patience_ns;
    return OS_UNSUPPORTED;
}

enum os_status os_spin_lock_release(struct os_spin_lock *lock)
{
    (void)lock;
    return OS_UNSUPPORTED;
}
