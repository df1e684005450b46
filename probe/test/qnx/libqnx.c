/*
 * A stand-in for the calls of QNX's kernel that the port makes, for tests: channels and pulses over pipes and semaphores,
 * suspension by signals. It has no priorities and says nothing of times: what it shows is the logic of the port.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <sys/neutrino.h>
#include <sys/syspage.h>

#include "../support/hold.h"
#include "../support/own_threads.h"

enum { OBJECTS = 256 };

/* ---- The system ---- */

static struct syspage_entry page;
struct syspage_entry *_syspage_ptr = &page;

__attribute__((constructor)) static void count_cpus(void)
{
    page.num_cpu = (unsigned short)sysconf(_SC_NPROCESSORS_CONF);
}

int uname(struct utsname *found)
{
    memset(found, 0, sizeof *found);
    strcpy(found->sysname, "QNX");
    strcpy(found->release, "stand-in");
    return 0;
}

static int set_mask(unsigned wanted)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (size_t cpu = 0; cpu < 32; cpu++) {
        if ((wanted & (1U << cpu)) != 0) {
            CPU_SET(cpu, &cpus);
        }
    }
    return sched_setaffinity(0, sizeof cpus, &cpus);
}

static int get_and_set_mask(unsigned *mask)
{
    cpu_set_t cpus;
    unsigned before = 0;
    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) {
        return -1;
    }
    for (size_t cpu = 0; cpu < 32; cpu++) {
        before |= CPU_ISSET(cpu, &cpus) ? 1U << cpu : 0;
    }
    const int result = *mask != 0 ? set_mask(*mask) : 0;
    *mask = before;
    return result;
}

int ThreadCtl(int command, void *data)
{
    struct hold *const other = hold_of((pthread_t)data);
    switch (command) {
    case _NTO_TCTL_RUNMASK:
        return set_mask((unsigned)(uintptr_t)data);
    case _NTO_TCTL_RUNMASK_GET_AND_SET:
        return get_and_set_mask(data);
    case _NTO_TCTL_ONE_THREAD_HOLD:
    case _NTO_TCTL_ONE_THREAD_CONT:
        if (other != NULL) {
            return (command == _NTO_TCTL_ONE_THREAD_HOLD ? hold_suspend(other) : hold_resume(other)) == 0 ? 0 : -1;
        }
        errno = ESRCH;
        return -1;
    default:
        errno = EINVAL;
        return -1;
    }
}

/* ---- Channels: what is under way passes through a pipe; a connection is its channel's number, and more ---- */

enum { CONNECTION = 1000 };

struct sent {
    sem_t replied;
    atomic_int users; /* the sender, and who received it or will */
    atomic_bool taken;
    bool is_pulse;
    int bytes;
    char data[];
};

static int ends[OBJECTS][2];
static atomic_int taken[OBJECTS];
static struct sent *received[OBJECTS];
static atomic_int awaiting[OBJECTS];

static int take(atomic_int *places)
{
    for (int i = 0; i < OBJECTS; i++) {
        int none = 0;
        if (atomic_compare_exchange_strong(&places[i], &none, 1)) {
            return i + 1;
        }
    }
    errno = EAGAIN;
    return -1;
}

static void let_go(struct sent *sent)
{
    if (atomic_fetch_sub(&sent->users, 1) == 1) {
        sem_destroy(&sent->replied);
        free(sent);
    }
}

int ChannelCreate(unsigned flags)
{
    const int made = take(taken);
    if (made > 0 && (flags != 0 || pipe(ends[made - 1]) != 0)) {
        atomic_store(&taken[made - 1], 0);
        return -1;
    }
    return made;
}

int ChannelDestroy(int channel)
{
    close(ends[channel - 1][0]);
    close(ends[channel - 1][1]);
    atomic_store(&taken[channel - 1], 0);
    return 0;
}

int ConnectAttach(uint32_t node, pid_t process, int channel, unsigned index, int flags)
{
    if (node != 0 || process != 0 || index != _NTO_SIDE_CHANNEL || flags != 0 || atomic_load(&taken[channel - 1]) == 0) {
        errno = EINVAL;
        return -1;
    }
    return CONNECTION + channel;
}

int ConnectDetach(int connection)
{
    return connection > CONNECTION ? 0 : -1;
}

static struct sent *pass(int connection, const void *data, int bytes, int users)
{
    struct sent *const sent = calloc(1, sizeof *sent + (size_t)bytes);
    sem_init(&sent->replied, 0, 0);
    atomic_store(&sent->users, users);
    sent->is_pulse = users == 1;
    sent->bytes = bytes;
    memcpy(sent->data, data, (size_t)bytes);
    return write(ends[connection - CONNECTION - 1][1], &sent, sizeof sent) == (ssize_t)sizeof sent ? sent : NULL;
}

static _Thread_local uint64_t patience_ns;

/* For the next call only. */
int TimerTimeout(clockid_t clock, int flags, const struct sigevent *event, const uint64_t *length_ns, uint64_t *left_ns)
{
    patience_ns = *length_ns;
    return clock == CLOCK_MONOTONIC && flags == _NTO_TIMEOUT_SEND && event == NULL && left_ns == NULL ? 0 : -1;
}

static int wait_for_reply(struct sent *own)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)(patience_ns / 1000000000);
    if (patience_ns == 0) {
        return sem_wait(&own->replied);
    }
    patience_ns = 0;
    if (sem_clockwait(&own->replied, CLOCK_MONOTONIC, &end) == 0) {
        return 0;
    }
    const int error = errno;
    const bool is_received = atomic_exchange(&own->taken, true);
    errno = error;
    return is_received ? sem_wait(&own->replied) : -1;
}

int MsgSend(int connection, const void *sent, int sent_bytes, void *reply, int reply_bytes)
{
    if (connection <= CONNECTION || reply != NULL || reply_bytes != 0) {
        errno = EBADF;
        return -1;
    }
    struct sent *const own = pass(connection, sent, sent_bytes, 2);
    const int result = own != NULL ? wait_for_reply(own) : -1;
    const int error = errno;
    if (own != NULL) {
        let_go(own);
    }
    errno = error;
    return result;
}

/* One that its sender gave up is not there. */
static struct sent *receive(int channel)
{
    struct sent *sent;
    while (read(ends[channel - 1][0], &sent, sizeof sent) == (ssize_t)sizeof sent) {
        if (!atomic_exchange(&sent->taken, true)) {
            return sent;
        }
        let_go(sent);
    }
    return NULL;
}

int MsgReceive(int channel, void *message, int bytes, struct _msg_info *info)
{
    struct sent *const sent = receive(channel);
    if (sent == NULL || sent->is_pulse || info != NULL) {
        return -1;
    }
    const int sender = take(awaiting);
    memcpy(message, sent->data, (size_t)(bytes < sent->bytes ? bytes : sent->bytes));
    received[sender - 1] = sent;
    return sender;
}

int MsgReply(int sender, int status, const void *reply, int bytes)
{
    struct sent *const sent = received[sender - 1];
    if (status != 0 || reply != NULL || bytes != 0) {
        return -1;
    }
    atomic_store(&awaiting[sender - 1], 0);
    sem_post(&sent->replied);
    let_go(sent);
    return 0;
}

int MsgSendPulse(int connection, int priority, int code, int value)
{
    const struct _pulse pulse = {.code = (int8_t)code, .value = value};
    return priority == -1 && pass(connection, &pulse, (int)sizeof pulse, 1) != NULL ? 0 : -1;
}

int MsgReceivePulse(int channel, void *pulse, int bytes, struct _msg_info *info)
{
    struct sent *const sent = receive(channel);
    if (sent == NULL || !sent->is_pulse || info != NULL || bytes < sent->bytes) {
        return -1;
    }
    memcpy(pulse, sent->data, (size_t)sent->bytes);
    let_go(sent);
    return 0;
}
