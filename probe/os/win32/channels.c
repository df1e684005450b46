/* Ways in which threads of Windows wake each other. The wait for an object can be interrupted, that for a lock can't. */
#include "win32.h"

#include "os/channel.h"

#include "format.h"

#include <string.h>

enum { LOST_AFTER_MS = 1000, MOST_BYTES = 1 << 20, ROOM_FOR = 4, PIPE_NAME_BYTES = 64 };

static enum os_status waited(DWORD ended)
{
    switch (ended) {
    case WAIT_OBJECT_0:
        return OS_OK;
    case WAIT_IO_COMPLETION:
        return OS_INTERRUPTED;
    case WAIT_TIMEOUT:
        return OS_TIMED_OUT;
    default:
        return win32_status(GetLastError());
    }
}

/* ---- semaphore and event ---- */

struct channel_of_handles {
    struct os_channel base;
    HANDLE in; /* what is waited for */
    HANDLE out;
};

static enum os_status handles_made(struct channel_of_handles *own, HANDLE made)
{
    own->in = own->out = made;
    return made != NULL ? OS_OK : win32_status(GetLastError());
}

static void handles_close(struct os_channel *channel)
{
    const struct channel_of_handles *const own = (const struct channel_of_handles *)channel;
    if (own->in != NULL) {
        CloseHandle(own->in);
    }
    if (own->out != NULL && own->out != own->in) {
        CloseHandle(own->out);
    }
}

static enum os_status object_receive(struct os_channel *channel)
{
    return waited(WaitForSingleObjectEx(((struct channel_of_handles *)channel)->in, INFINITE, TRUE));
}

static enum os_status semaphore_send(struct os_channel *channel)
{
    return ReleaseSemaphore(((struct channel_of_handles *)channel)->out, 1, NULL) ? OS_OK : win32_status(GetLastError());
}

static enum os_status semaphore_open(struct os_channel *channel, const char **why)
{
    (void)why;
    channel->send = semaphore_send;
    channel->receive = object_receive;
    return handles_made((struct channel_of_handles *)channel, CreateSemaphoreW(NULL, 0, MAXLONG, NULL));
}

static enum os_status event_send(struct os_channel *channel)
{
    return SetEvent(((struct channel_of_handles *)channel)->out) ? OS_OK : win32_status(GetLastError());
}

static enum os_status event_open(struct os_channel *channel, const char **why)
{
    (void)why;
    channel->send = event_send;
    channel->receive = object_receive;
    return handles_made((struct channel_of_handles *)channel, CreateEventW(NULL, FALSE, FALSE, NULL));
}

/* ---- pipes and mailslot ---- */

static enum os_status file_send(struct os_channel *channel)
{
    DWORD done = 0;
    HANDLE out = ((struct channel_of_handles *)channel)->out;
    return WriteFile(out, channel->outgoing, (DWORD)channel->message_bytes, &done, NULL) ? OS_OK
                                                                                         : win32_status(GetLastError());
}

/* A pipe of bytes may hand out a part of them. */
static enum os_status file_receive(struct os_channel *channel)
{
    HANDLE in = ((struct channel_of_handles *)channel)->in;
    for (size_t at = 0; at < channel->message_bytes;) {
        DWORD got = 0;
        if (!ReadFile(in, channel->incoming + at, (DWORD)(channel->message_bytes - at), &got, NULL)) {
            return win32_status(GetLastError());
        }
        at += got;
    }
    return OS_OK;
}

static void use_files(struct os_channel *channel)
{
    channel->send = file_send;
    channel->receive = file_receive;
}

static enum os_status pipe_open(struct os_channel *channel, const char **why)
{
    struct channel_of_handles *const own = (struct channel_of_handles *)channel;
    (void)why;
    use_files(channel);
    return CreatePipe(&own->in, &own->out, NULL, (DWORD)(ROOM_FOR * channel->message_bytes)) ? OS_OK
                                                                                             : win32_status(GetLastError());
}

static void make_name(char name[PIPE_NAME_BYTES], const char *folder)
{
    static atomic_uint serial;
    format_text(name, PIPE_NAME_BYTES, "\\\\.\\%s\\tautochrone-%lu-%u", folder, GetCurrentProcessId(),
                atomic_fetch_add(&serial, 1U));
}

/* The end that reads has made the name, which is gone with it. */
static enum os_status open_writing_end(struct channel_of_handles *own, const char *name)
{
    if (own->in == INVALID_HANDLE_VALUE) {
        own->in = NULL;
        return win32_status(GetLastError());
    }
    own->out = CreateFileA(name, GENERIC_WRITE, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    if (own->out == INVALID_HANDLE_VALUE) {
        own->out = NULL;
        return win32_status(GetLastError());
    }
    return OS_OK;
}

static enum os_status named_pipe_open(struct os_channel *channel, const char **why)
{
    struct channel_of_handles *const own = (struct channel_of_handles *)channel;
    char name[PIPE_NAME_BYTES];
    const DWORD room = (DWORD)(ROOM_FOR * channel->message_bytes);
    (void)why;
    use_files(channel);
    make_name(name, "pipe");
    own->in = CreateNamedPipeA(name, PIPE_ACCESS_INBOUND | FILE_FLAG_FIRST_PIPE_INSTANCE,
                               PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1, room,
                               room, 0, NULL);
    return open_writing_end(own, name);
}

static enum os_status mailslot_open(struct os_channel *channel, const char **why)
{
    struct channel_of_handles *const own = (struct channel_of_handles *)channel;
    char name[PIPE_NAME_BYTES];
    (void)why;
    use_files(channel);
    make_name(name, "mailslot");
    own->in = CreateMailslotA(name, (DWORD)channel->message_bytes, LOST_AFTER_MS, NULL);
    return open_writing_end(own, name);
}

static size_t most_bytes(const char **how_to_raise)
{
    *how_to_raise = "The probe has no more.";
    return MOST_BYTES;
}

/* ---- procedure call ---- */

struct channel_of_calls {
    struct os_channel base;
    struct os_thread *receiver;
};

static void CALLBACK arrive(ULONG_PTR argument)
{
    ((struct os_thread *)argument)->calls++;
}

static enum os_status call_send(struct os_channel *channel)
{
    struct os_thread *const receiver = ((struct channel_of_calls *)channel)->receiver;
    return QueueUserAPC(arrive, receiver->handle, (ULONG_PTR)receiver) ? OS_OK : win32_status(GetLastError());
}

static enum os_status call_receive(struct os_channel *channel)
{
    struct os_thread *const self = ((struct channel_of_calls *)channel)->receiver;
    if (self->calls == 0) {
        SleepEx(INFINITE, TRUE);
    }
    if (self->calls == 0) {
        return OS_INTERRUPTED;
    }
    self->calls--;
    return OS_OK;
}

static enum os_status call_open(struct os_channel *channel, const char **why)
{
    (void)why;
    channel->send = call_send;
    channel->receive = call_receive;
    return OS_OK;
}

/* What an earlier channel's sender sent last may still be on its way: it belongs to the thread, not to the channel. */
static void call_bind_receiver(struct os_channel *channel)
{
    struct os_thread *const self = win32_self();
    while (SleepEx(0, TRUE) == WAIT_IO_COMPLETION) {
    }
    self->calls = 0;
    ((struct channel_of_calls *)channel)->receiver = self;
}

static void nothing_to_close(struct os_channel *channel)
{
    (void)channel;
}

/* ---- address ---- */

struct channel_of_address {
    struct os_channel base;
    _Atomic uint32_t sent;
};

static enum os_status address_send(struct os_channel *channel)
{
    struct channel_of_address *const own = (struct channel_of_address *)channel;
    atomic_store_explicit(&own->sent, 1, memory_order_release);
    WakeByAddressSingle(&own->sent);
    return OS_OK;
}

static enum os_status address_receive(struct os_channel *channel)
{
    struct channel_of_address *const own = (struct channel_of_address *)channel;
    uint32_t none = 0;
    while (atomic_exchange_explicit(&own->sent, 0, memory_order_acquire) == 0) {
        if (!WaitOnAddress(&own->sent, &none, sizeof none, LOST_AFTER_MS)) {
            return win32_status(GetLastError());
        }
    }
    return OS_OK;
}

static enum os_status address_open(struct os_channel *channel, const char **why)
{
    (void)why;
    channel->send = address_send;
    channel->receive = address_receive;
    return OS_OK;
}

/* ---- condition ---- */

struct channel_of_condition {
    struct os_channel base;
    SRWLOCK guard; /* zero is open */
    CONDITION_VARIABLE sent;
    bool full;
};

/* The condition is signalled after the lock is free: a receiver of higher priority would otherwise wake only to wait. */
static enum os_status condition_send(struct os_channel *channel)
{
    struct channel_of_condition *const own = (struct channel_of_condition *)channel;
    AcquireSRWLockExclusive(&own->guard);
    memcpy(channel->incoming, channel->outgoing, channel->message_bytes);
    own->full = true;
    ReleaseSRWLockExclusive(&own->guard);
    WakeConditionVariable(&own->sent);
    return OS_OK;
}

static enum os_status condition_receive(struct os_channel *channel)
{
    struct channel_of_condition *const own = (struct channel_of_condition *)channel;
    bool there = true;
    AcquireSRWLockExclusive(&own->guard);
    while (!own->full && there) {
        there = SleepConditionVariableSRW(&own->sent, &own->guard, LOST_AFTER_MS, 0) != 0;
    }
    const DWORD error = own->full ? ERROR_SUCCESS : GetLastError();
    own->full = false;
    ReleaseSRWLockExclusive(&own->guard);
    return win32_status(error);
}

static enum os_status condition_open(struct os_channel *channel, const char **why)
{
    (void)why;
    channel->send = condition_send;
    channel->receive = condition_receive;
    return OS_OK;
}

/* ---- all ---- */

static const struct os_channel_kind semaphore = {
    .name = "semaphore",
    .what = "semaphore: ReleaseSemaphore and WaitForSingleObject",
    .size = sizeof(struct channel_of_handles),
    .open = semaphore_open,
    .close = handles_close,
};
static const struct os_channel_kind event = {
    .name = "event",
    .what = "auto-reset event: SetEvent and WaitForSingleObject",
    .size = sizeof(struct channel_of_handles),
    .open = event_open,
    .close = handles_close,
};
static const struct os_channel_kind pipe = {
    .name = "pipe",
    .what = "anonymous pipe: WriteFile and ReadFile",
    .size = sizeof(struct channel_of_handles),
    .open = pipe_open,
    .close = handles_close,
    .most_bytes = most_bytes,
};
static const struct os_channel_kind named_pipe = {
    .name = "named-pipe",
    .what = "named pipe of messages: WriteFile and ReadFile",
    .size = sizeof(struct channel_of_handles),
    .open = named_pipe_open,
    .close = handles_close,
    .most_bytes = most_bytes,
};
static const struct os_channel_kind mailslot = {
    .name = "mailslot",
    .what = "mailslot: WriteFile and ReadFile",
    .size = sizeof(struct channel_of_handles),
    .open = mailslot_open,
    .close = handles_close,
    .most_bytes = most_bytes,
};
static const struct os_channel_kind call = {
    .name = "apc",
    .what = "procedure call queued to a thread: QueueUserAPC and SleepEx",
    .size = sizeof(struct channel_of_calls),
    .open = call_open,
    .close = nothing_to_close,
    .bind_receiver = call_bind_receiver,
};
static const struct os_channel_kind address = {
    .name = "address",
    .what = "address: WakeByAddressSingle and WaitOnAddress",
    .size = sizeof(struct channel_of_address),
    .open = address_open,
    .close = nothing_to_close,
};
static const struct os_channel_kind condition = {
    .name = "condition",
    .what = "message in shared memory, slim lock and condition variable",
    .size = sizeof(struct channel_of_condition),
    .open = condition_open,
    .close = nothing_to_close,
    .most_bytes = most_bytes,
};

const struct os_channel_kind *const os_channel_kinds[] = {
    &semaphore, &event, &pipe, &named_pipe, &mailslot, &call, &address, &condition, NULL,
};
