#include "experiment/conditions.h"

#include "format.h"
#include "message.h"

#include <inttypes.h>

enum { NS_PER_US = 1000, NS_PER_MS = 1000000 };
static const int64_t ns_per_s = 1000000000;

static struct conditions form; /* only its addresses count */

static const struct option condition_options[] = {
    {"budget", OPTION_DURATION, &form.budget_ns, NULL, "longest run without sleep, then stop [2s]", false},
    {"wake-latency", OPTION_DURATION, &form.wake_latency_limit_ns, NULL,
     "hold idle CPUs to this wake-up latency [not held]", false},
    {"housekeeping", OPTION_TEXT, &form.recording.housekeeping, NULL,
     "CPUs of the threads that drain and watch, or any [those not measured]", false},
};
const struct option_group condition_group = {condition_options, sizeof condition_options / sizeof condition_options[0], &form};
const struct option_group housekeeping_group = {&condition_options[2], 1, &form.recording};

const char advice_for_ordinary_policy[] = "Or measure without real-time priority: --policy other.";

struct conditions conditions_default(void)
{
    return (struct conditions){.budget_ns = 2 * ns_per_s, .wake_latency_limit_ns = -1};
}

bool conditions_check(struct conditions *conditions)
{
    if (conditions->budget_ns < 100LL * NS_PER_MS || conditions->budget_ns > 4000 * ns_per_s) {
        refuse(EXIT_USAGE, "--budget must lie between 100ms and 4000s.");
        return false;
    }
    const int64_t limit_ns = conditions->wake_latency_limit_ns;
    if (limit_ns >= 0 && (limit_ns % NS_PER_US != 0 || limit_ns / NS_PER_US > INT32_MAX)) {
        refuse(EXIT_USAGE, "--wake-latency takes whole microseconds, at most %dus.", INT32_MAX);
        return false;
    }
    return recording_check(&conditions->recording);
}

void conditions_warn_of_throttling(void)
{
    int64_t runtime_ns = 0;
    int64_t period_ns = 0;
    char share[96] = "";
    if (os_realtime_share(&runtime_ns, &period_ns) == OS_OK && runtime_ns >= 0) {
        format_text(share, sizeof share, " (%" PRId64 " ms in every %" PRId64 " ms by sched_rt_runtime_us)",
                    runtime_ns / NS_PER_MS, period_ns / NS_PER_MS);
    }
    warn("a real-time thread that takes nearly all of its CPU can be stopped by the system%s, or for ordinary threads "
         "that starve (the fair server, from Linux 6.12 on): that shows as latency and missed releases of tens of "
         "milliseconds.",
         share);
}

int conditions_need_cpu_time(void)
{
    const struct os_answer answer = os_service_available(OS_SERVICE_THREAD_CPU_TIME);
    return answer.availability == OS_PRESENT
               ? EXIT_MEASURED
               : refuse(EXIT_FAILED, "this experiment counts CPU time of threads, and %s.", answer.why);
}

int conditions_prepare(struct conditions *conditions)
{
    os_thread_become_ordinary();
    enum os_status status = os_stop_listen();
    if (status == OS_OK) {
        status = os_watchdog_start(conditions->budget_ns, &conditions->budget_obtained_ns);
    }
    if (status != OS_OK) {
        return refuse(EXIT_FAILED, "the watchdog can't be started: %s.", os_status_text(status));
    }
    if (conditions->wake_latency_limit_ns >= 0) {
        status = os_wake_latency_limit((int32_t)(conditions->wake_latency_limit_ns / NS_PER_US));
        if (status != OS_OK) {
            return refuse(status == OS_NOT_PERMITTED ? EXIT_NOT_PERMITTED : EXIT_FAILED,
                          "--wake-latency can't be held: %s.\n"
                          "It needs write access to /dev/cpu_dma_latency. Leave it "
                          "out to measure the machine as it is.",
                          os_status_text(status));
        }
    }
    return recording_lock_memory(&conditions->recording, true);
}

void conditions_to_json(struct json *json, const struct conditions *conditions)
{
    int64_t runtime_ns = 0;
    int64_t period_ns = 0;
    const bool limited = os_realtime_share(&runtime_ns, &period_ns) == OS_OK;
    json_open_object(json, "process");
    json_open_object(json, "requested");
    json_boolean(json, "memory_locked", !conditions->recording.no_memory_lock);
    json_integer(json, "budget_ns", conditions->budget_ns);
    json_integer_or_null(json, "wake_latency_limit_us",
                         conditions->wake_latency_limit_ns < 0 ? INT64_MIN
                                                               : conditions->wake_latency_limit_ns / NS_PER_US);
    json_close_object(json);
    json_open_object(json, "obtained");
    json_boolean(json, "memory_locked", os_memory_is_locked());
    json_integer(json, "budget_ns", conditions->budget_obtained_ns);
    json_integer_or_null(json, "wake_latency_limit_us", os_wake_latency_limit_in_force_us());
    json_integer_or_null(json, "rt_runtime_ns", limited ? runtime_ns : INT64_MIN);
    json_integer_or_null(json, "rt_period_ns", limited ? period_ns : INT64_MIN);
    json_close_object(json);
    json_close_object(json);
}

void requested_to_json(struct json *json, const struct os_thread_attributes *attributes)
{
    json_open_object(json, "requested");
    json_text(json, "policy", os_policy_name(attributes->policy));
    json_integer(json, "priority", os_priority_to_native(attributes->policy, attributes->below_highest));
    if (attributes->cpu == OS_CPU_ANY) {
        json_null(json, "cpu");
    } else {
        json_integer(json, "cpu", attributes->cpu);
    }
    if (attributes->policy == OS_POLICY_DEADLINE) {
        json_integer(json, "runtime_ns", attributes->runtime_ns);
        json_integer(json, "deadline_ns", attributes->deadline_ns);
        json_integer(json, "period_ns", attributes->period_ns);
    }
    json_close_object(json);
}

void obtained_to_json(struct json *json, enum os_policy requested, const struct os_thread_obtained *obtained)
{
    json_open_object(json, "obtained");
    json_text(json, "policy", os_policy_name(obtained->policy));
    json_integer_or_null(json, "priority", obtained->native_priority);
    json_integer_or_null(json, "cpu", obtained->cpu == OS_CPU_ANY ? INT64_MIN : obtained->cpu);
    if (requested == OS_POLICY_DEADLINE) {
        json_integer_or_null(json, "runtime_ns", obtained->runtime_ns);
        json_integer_or_null(json, "deadline_ns", obtained->deadline_ns);
        json_integer_or_null(json, "period_ns", obtained->period_ns);
    }
    json_integer_or_null(json, "timer_slack_ns", obtained->timer_slack_ns);
    json_close_object(json);
}
