/*
 * A system of its own that has POSIX, such as QNX and VxWorks: what the probe has of Linux, beyond POSIX, is not there. What
 * such a system has instead is in its folder.
 */
#include "alone.h"

#include "os/identity.h"
#include "os/network.h"
#include "os/posix/deadline.h"
#include "os/posix/domain.h"
#include "os/posix/linux.h"
#include "os/process.h"
#include "os/realtime.h"
#include "os/rights.h"

#include "format.h"

#include <pthread.h>
#include <sched.h>

/* ---- One domain, and what is in it ---- */

/* A program of such a system does not start on any other. */
enum os_status os_system_begin(const char **why)
{
    *why = "";
    return OS_OK;
}

bool domain_answers(enum os_service service, struct os_answer *answer)
{
    switch (service) {
    case OS_SERVICE_INBAND_SWITCHES:
        *answer = (struct os_answer){OS_ABSENT, "this system has one domain only, which no thread can leave"};
        return true;
    case OS_SERVICE_POLICY_DEADLINE:
        *answer = (struct os_answer){OS_ABSENT, "this system has no SCHED_DEADLINE"};
        return true;
    case OS_SERVICE_WAKE_LATENCY_LIMIT:
        *answer = (struct os_answer){OS_ABSENT, "this system has no such limit"};
        return true;
    case OS_SERVICE_SUSPEND_RESUME:
        *answer = (struct os_answer){OS_PRESENT, ""};
        return true;
    default:
        return false;
    }
}

void domain_facts_read(struct os_facts *facts)
{
    (void)facts;
}

/* ---- Threads and CPUs ---- */

int linux_policy(enum os_policy policy)
{
    return policy == OS_POLICY_FIFO ? SCHED_FIFO : policy == OS_POLICY_RR ? SCHED_RR : SCHED_OTHER;
}

static int64_t only_cpu(void)
{
    const int64_t mask = alone_mask_of_cpus();
    if (mask <= 0 || (mask & (mask - 1)) != 0) {
        return mask <= 0 ? INT64_MIN : OS_CPU_ANY;
    }
    int64_t cpu = 0;
    while ((mask & (INT64_C(1) << cpu)) == 0) {
        cpu++;
    }
    return cpu;
}

void linux_thread_read_back(struct os_thread_obtained *obtained)
{
    int policy;
    struct sched_param parameter;
    *obtained = (struct os_thread_obtained){.policy = OS_POLICY_OTHER,
                                            .native_priority = INT64_MIN,
                                            .cpu = only_cpu(),
                                            .timer_slack_ns = INT64_MIN,
                                            .runtime_ns = INT64_MIN,
                                            .deadline_ns = INT64_MIN,
                                            .period_ns = INT64_MIN};
    if (pthread_getschedparam(pthread_self(), &policy, &parameter) == 0) {
        obtained->policy = policy == SCHED_FIFO ? OS_POLICY_FIFO : policy == SCHED_RR ? OS_POLICY_RR : OS_POLICY_OTHER;
        obtained->native_priority = parameter.sched_priority;
    }
}

bool os_cpu_is_online(int32_t cpu)
{
    return cpu >= 0 && cpu < os_cpu_limit();
}

void os_cpus_online_text(char *text, size_t bytes)
{
    format_text(text, bytes, os_cpu_limit() > 1 ? "0-%d" : "0", (int)os_cpu_limit() - 1);
}

bool os_cpu_is_inherited(int32_t cpu)
{
    const int64_t mask = alone_mask_of_cpus();
    return os_cpu_is_online(cpu) && (mask < 0 || (mask & (INT64_C(1) << cpu)) != 0);
}

bool os_cpu_is_allowed(int32_t cpu)
{
    return os_cpu_is_online(cpu);
}

enum os_status linux_thread_set_deadline(int64_t runtime_ns, int64_t deadline_ns, int64_t period_ns)
{
    (void)runtime_ns;
    (void)deadline_ns;
    (void)period_ns;
    return OS_UNSUPPORTED;
}

bool linux_budget_overrun(void)
{
    return false;
}

int64_t os_thread_budget_overruns(void)
{
    return INT64_MIN;
}

void os_thread_switches(int64_t *voluntary, int64_t *involuntary)
{
    *voluntary = INT64_MIN;
    *involuntary = INT64_MIN;
}

void os_counts_read(struct os_counts *counts, const struct os_thread *thread, int32_t cpu)
{
    (void)thread;
    (void)cpu;
    *counts = (struct os_counts){INT64_MIN, INT64_MIN, INT64_MIN};
}

/* A thread that none runs above stays where it is. */
void os_threads_unpin(void)
{
}

enum os_status os_thread_keep_to(const int32_t *cpus, uint32_t count)
{
    (void)cpus;
    (void)count;
    return OS_UNSUPPORTED;
}

void os_clock_identity(char identity[OS_CLOCK_IDENTITY_BYTES])
{
    format_text(identity, OS_CLOCK_IDENTITY_BYTES, "unknown");
}

const char *os_advice_for_policy(void)
{
    return "Run as root.";
}

const char *os_advice_for_memory_lock(void)
{
    return "Run as root, or measure with pageable memory: --no-memory-lock.";
}

/* ---- Memory: nothing of it goes to a disk ---- */

int64_t linux_locked_bytes(void)
{
    return INT64_MAX;
}

int64_t os_memory_available_bytes(void)
{
    return INT64_MAX;
}

int32_t os_memory_node_of(int32_t cpu)
{
    (void)cpu;
    return -1;
}

enum os_status os_memory_allocate_near(void **memory, size_t bytes, int32_t cpu)
{
    (void)cpu;
    return os_memory_allocate(memory, bytes);
}

/* ---- Other programs, rights, the network ---- */

bool os_rights_are_of_another(void)
{
    return false;
}

enum os_status os_rights_give_back(void)
{
    return OS_OK;
}

enum os_status os_program_find(const char *place, const char *name, char *path, size_t bytes)
{
    (void)place;
    (void)name;
    (void)path;
    (void)bytes;
    return OS_NOT_FOUND;
}

int os_program_ask(const char *path, char *const *argv)
{
    (void)path;
    (void)argv;
    return -1;
}

enum os_status os_process_become(const char *place, const char *name, char *const *argv)
{
    (void)place;
    (void)name;
    (void)argv;
    return OS_NOT_FOUND;
}

bool os_network_is_address(const char *host)
{
    (void)host;
    return false;
}

void os_network_close(struct os_socket *socket)
{
    socket->handle = OS_NO_SOCKET;
}

enum os_status os_datagram_open(struct os_socket *socket, const char *host, uint16_t port)
{
    (void)host;
    (void)port;
    socket->handle = OS_NO_SOCKET;
    return OS_UNSUPPORTED;
}

enum os_status os_datagram_send(struct os_socket socket, const void *data, size_t bytes)
{
    (void)socket;
    (void)data;
    (void)bytes;
    return OS_UNSUPPORTED;
}
