#include "keep/affinities.h"

#include "keep/steps.h"
#include "os/settings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NS_PER_MS = 1000000 };
static const int64_t patience_ns = 1000LL * NS_PER_MS;
static const int64_t again_after_ns = 20LL * NS_PER_MS;
/* Nobody had to be helped for so long: then it stays so. */
static const int64_t settled_after_ns = 100LL * NS_PER_MS;
static const char word[] = STEP_AFFINITY " ";

/* A thread, as the first step has it that names it. */
struct affinity {
    struct os_thread_identity identity;
    const char *cpus; /* in the journal's text */
    size_t step;
    bool has_ended;
    enum os_fault fault; /* of the last try */
};

struct affinities {
    struct affinity *all;
    size_t count;
};

bool affinities_have(const char *step)
{
    return strncmp(step, word, sizeof word - 1) == 0;
}

static bool read_number(const char **at, char *end_of_it, uint64_t *number)
{
    char *end = NULL;
    *number = strtoull(*at, &end, 10);
    *end_of_it = *end;
    const bool is_one = end != *at;
    *at = *end == ' ' ? end + 1 : end;
    return is_one;
}

/* "affinity PROCESS THREAD START CPUS": nothing in it is ever written as %XX. */
static bool read_step(struct affinity *affinity, const char *step, size_t number)
{
    const char *at = step + sizeof word - 1;
    uint64_t numbers[3];
    for (size_t i = 0; i < 3; i++) {
        char end = '\0';
        if (!read_number(&at, &end, &numbers[i]) || end != ' ') {
            return false;
        }
    }
    *affinity = (struct affinity){
        .identity = {(int64_t)numbers[0], (int64_t)numbers[1], numbers[2]},
        .cpus = at,
        .step = number,
    };
    return *at != '\0' && strchr(at, ' ') == NULL;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_threads(const struct affinity *a, const struct affinity *b)
{
    const int by_thread = compare((uint64_t)a->identity.thread, (uint64_t)b->identity.thread);
    return by_thread != 0 ? by_thread : compare(a->identity.start, b->identity.start);
}

static int compare_steps(const void *a, const void *b)
{
    const struct affinity *const one = a;
    const struct affinity *const other = b;
    const int by_thread = compare_threads(one, other);
    return by_thread != 0 ? by_thread : compare(one->step, other->step);
}

static void keep_first_of_each(struct affinities *affinities)
{
    size_t kept = 0;
    qsort(affinities->all, affinities->count, sizeof *affinities->all, compare_steps);
    for (size_t i = 0; i < affinities->count; i++) {
        if (kept == 0 || compare_threads(&affinities->all[kept - 1], &affinities->all[i]) != 0) {
            affinities->all[kept++] = affinities->all[i];
        }
    }
    affinities->count = kept;
}

/* Steps that can't be read are told. */
static enum os_fault collect(struct affinities *affinities, const struct journal *journal, bool *done,
                             affinity_trouble tell, void *argument)
{
    enum os_fault fault = FAULT_NONE;
    *affinities = (struct affinities){.all = calloc(journal->step_count + 1, sizeof *affinities->all)};
    if (affinities->all == NULL) {
        return FAULT_ENOMEM;
    }
    for (size_t i = 0; i < journal->step_count; i++) {
        if (!affinities_have(journal->steps[i])) {
            continue;
        }
        const bool is_read = read_step(&affinities->all[affinities->count], journal->steps[i], i);
        affinities->count += is_read ? 1 : 0;
        if (!is_read && tell != NULL) {
            fault = FAULT_EINVAL;
            tell(argument, journal->steps[i], fault);
        }
        if (done != NULL) {
            done[i] = is_read;
        }
    }
    keep_first_of_each(affinities);
    return fault;
}

/* The system's own threads know better. */
static bool is_of_kernel(const struct affinity *affinity)
{
    uint64_t start = 0;
    bool of_kernel = false;
    return os_task_start(affinity->identity.thread, &start, &of_kernel) && of_kernel;
}

static enum os_fault see_that_it_has_them(const struct affinity *affinity)
{
    char now[OS_CPU_LIST_BYTES];
    const enum os_fault fault = os_thread_cpus_read(&affinity->identity, now, sizeof now);
    return fault == FAULT_NONE && strcmp(now, affinity->cpus) != 0 ? FAULT_EIO : fault;
}

/* True: it was as it should be. */
static bool look_at(struct affinity *affinity)
{
    affinity->fault = see_that_it_has_them(affinity);
    if (affinity->fault == FAULT_NONE) {
        return true;
    }
    if (affinity->fault == FAULT_EIO) {
        affinity->fault = os_thread_cpus_write(&affinity->identity, affinity->cpus);
    }
    if (affinity->fault == FAULT_NONE) {
        affinity->fault = see_that_it_has_them(affinity); /* it may have got only those that are there */
    }
    affinity->has_ended = affinity->fault == FAULT_ESRCH || is_of_kernel(affinity);
    return affinity->has_ended;
}

static bool look_at_all(struct affinities *affinities)
{
    bool all_well = true;
    for (size_t i = 0; i < affinities->count; i++) {
        const bool is_well = affinities->all[i].has_ended || look_at(&affinities->all[i]);
        all_well = all_well && is_well;
    }
    return all_well;
}

/* Where only affinities were noted, no CPU came or went. */
static bool may_come_late(const struct affinities *affinities, const struct journal *journal)
{
    return affinities->count > 0 && !affinities_have(journal->steps[journal->step_count - 1]);
}

static void look_until_settled(struct affinities *affinities, int64_t settled_after)
{
    const int64_t give_up_ns = os_now_ns() + patience_ns;
    int64_t well_since_ns = INT64_MAX;
    for (;;) {
        const bool is_well = look_at_all(affinities);
        const int64_t now_ns = os_now_ns();
        well_since_ns = !is_well ? INT64_MAX : well_since_ns < now_ns ? well_since_ns : now_ns;
        if (now_ns >= give_up_ns || (is_well && now_ns - well_since_ns >= settled_after)) {
            return;
        }
        (void)os_sleep_until(now_ns + again_after_ns);
    }
}

enum os_fault affinities_put_back(const struct journal *journal, bool *done, affinity_trouble tell, void *argument)
{
    struct affinities affinities;
    enum os_fault fault = collect(&affinities, journal, done, tell, argument);
    if (affinities.all == NULL) {
        return fault;
    }
    look_until_settled(&affinities, may_come_late(&affinities, journal) ? settled_after_ns : 0);
    for (size_t i = 0; i < affinities.count; i++) {
        const struct affinity *const one = &affinities.all[i];
        if (!one->has_ended && one->fault != FAULT_NONE) {
            fault = one->fault;
            tell(argument, journal->steps[one->step], fault);
            if (done != NULL) {
                done[one->step] = false;
            }
        }
    }
    free(affinities.all);
    return fault;
}

enum os_fault affinities_pin_again(const struct journal *journal)
{
    struct affinities affinities;
    const enum os_fault fault = collect(&affinities, journal, NULL, NULL, NULL);
    if (affinities.all == NULL) {
        return fault;
    }
    for (size_t i = 0; i < affinities.count; i++) {
        char now[OS_CPU_LIST_BYTES];
        const struct affinity *const one = &affinities.all[i];
        if (os_thread_cpus_read(&one->identity, now, sizeof now) == FAULT_NONE &&
            !os_cpus_are_within(now, one->cpus)) {
            (void)os_thread_cpus_write(&one->identity, one->cpus); /* refused: none of its CPUs is left to it */
        }
    }
    free(affinities.all);
    return FAULT_NONE;
}
