#include "omniorb_patience.h"

#include <algorithm>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include <vector>

namespace tauto
{

namespace
{

constexpr int64_t looks_per_limit = 4;
constexpr int64_t shortest_pause_ns = 1000000;
constexpr int64_t longest_pause_ns = 250000000;

std::mutex guard; /* of those that are looked after, and how often */
std::vector<patience *> all;
int64_t pause_ns = longest_pause_ns;

struct os_thread *beside = nullptr;
struct os_semaphore *enough = nullptr;

/* Whoever connects may be pinned to the CPU that a runaway server holds. */
void run_where_the_program_may()
{
    cpu_set_t allowed;
    if (sched_getaffinity(getpid(), sizeof allowed, &allowed) == 0) {
        (void)pthread_setaffinity_np(pthread_self(), sizeof allowed, &allowed);
    }
}

void look_after_all(void *)
{
    run_where_the_program_may();
    int64_t pause = shortest_pause_ns;
    while (os_semaphore_wait_for(enough, pause) == OS_TIMED_OUT) {
        const std::lock_guard<std::mutex> mine(guard);
        const int64_t now_ns = os_now_ns();
        for (patience *const one : all) {
            one->look(now_ns);
        }
        pause = pause_ns;
    }
}

} // namespace

enum os_status patience_begin_looking()
{
    const struct os_thread_attributes ordinary = {
        .name = "tauto-patience",
        .policy = OS_POLICY_OTHER,
        .below_highest = 0,
        .cpu = OS_CPU_ANY,
        .stack_bytes = 0,
        .runtime_ns = 0,
        .deadline_ns = 0,
        .period_ns = 0,
    };
    enum os_status status = os_semaphore_create(&enough, 0);
    if (status == OS_OK) {
        status = os_thread_create(&beside, &ordinary, look_after_all, nullptr);
        if (status != OS_OK) {
            os_semaphore_destroy(enough);
        }
    }
    return status;
}

void patience_end_looking()
{
    os_semaphore_post(enough);
    os_thread_join(beside);
    os_semaphore_destroy(enough);
}

void patience::look(int64_t now_ns)
{
    const uint32_t now = turns.load(std::memory_order_relaxed);
    if (now != seen || now % 2 == 0) {
        seen = now;
        seen_since_ns = now_ns;
    } else if (now_ns - seen_since_ns >= longest_ns && !is_over()) {
        over.store(true, std::memory_order_release);
        try {
            served->_PR_getobj()->_NP_disconnect();
        } catch (const CORBA::SystemException &) {
            /* it is broken already */
        }
    }
}

void patience::begin(CORBA::Object_ptr object, int64_t limit_ns)
{
    const std::lock_guard<std::mutex> mine(guard);
    served = CORBA::Object::_duplicate(object);
    longest_ns = limit_ns;
    pause_ns = std::clamp(limit_ns / looks_per_limit, shortest_pause_ns, longest_pause_ns);
    all.push_back(this);
}

patience::~patience()
{
    const std::lock_guard<std::mutex> mine(guard);
    all.erase(std::remove(all.begin(), all.end(), this), all.end());
}

} // namespace tauto
