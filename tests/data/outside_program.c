/*
 * A program of known behaviour that is watched from outside: `outside HOW STEPS PERIOD_US`. Each step spins for 100 us of its
 * thread's CPU time; OUTSIDE_OWN_TIMES names the file that gets a line for each: release, and the time before and after it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#ifdef WITH_PROBES
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
unsigned short control_begin_semaphore __attribute__((section(".probes")));
unsigned short control_end_semaphore __attribute__((section(".probes")));
#define BEGIN(k, release) DTRACE_PROBE2(control, begin, k, release)
#define END() DTRACE_PROBE(control, end)
#define IS_WATCHED (control_begin_semaphore != 0)
#else
#define BEGIN(k, release) (void)0
#define END() (void)0
#define IS_WATCHED 1
#endif

enum { WORK_NS = 100000, LEFT_OUT_EVERY = 10 };
static const int64_t ns_per_s = 1000000000;

struct step {
    int64_t release_ns, before_ns, after_ns;
};

static int64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * ns_per_s + time.tv_nsec;
}

static void work(int64_t ns)
{
    for (const int64_t until = now(CLOCK_THREAD_CPUTIME_ID) + ns; now(CLOCK_THREAD_CPUTIME_ID) < until;) {
    }
}

static void sleep_until(int64_t release_ns)
{
    const struct timespec until = {release_ns / ns_per_s, release_ns % ns_per_s};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void *rest(void *forever) /* a thread that sleeps once, and then waits */
{
    usleep(1000);
    return forever;
}

int main(int count, char **words)
{
    const char *const how = count > 3 ? words[1] : "";
    const int64_t steps = count > 3 ? atoll(words[2]) : 0;
    const int64_t period_ns = count > 3 ? atoll(words[3]) * 1000 : 1;
    struct step *const own = calloc((size_t)steps + 1, sizeof *own);
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    pthread_t other;
    pthread_create(&other, NULL, rest, NULL);
    pthread_setname_np(other, "other");
    for (int i = 0; !IS_WATCHED && i < 500; i++) {
        usleep(20000);
    }
    usleep(100000);
    int64_t release_ns = now(CLOCK_MONOTONIC);
    const struct timespec each = {period_ns / ns_per_s, period_ns % ns_per_s};
    timerfd_settime(timer, 0, &(struct itimerspec){.it_interval = each, .it_value = each}, NULL);
    for (int64_t k = 0; k < steps; k++) {
        release_ns += period_ns;
        if (strcmp(how, "relative") == 0) {
            nanosleep(&each, NULL);
        } else if (strcmp(how, "timer") == 0) {
            uint64_t expired;
            if (read(timer, &expired, sizeof expired) < 0) {
                return 1;
            }
        } else {
            sleep_until(release_ns);
        }
        own[k] = (struct step){.release_ns = release_ns, .before_ns = now(CLOCK_MONOTONIC)};
        BEGIN(k, release_ns);
        work(WORK_NS);
        if (strcmp(how, "crash") == 0 && k == steps - 1) {
            abort();
        }
        if (strcmp(how, "long") == 0 && k % LEFT_OUT_EVERY == LEFT_OUT_EVERY - 1) {
            work(2 * period_ns + period_ns / 2); /* the next sleep returns at once */
            while (release_ns + period_ns < now(CLOCK_MONOTONIC)) {
                release_ns += period_ns;
            }
        }
        END();
        own[k].after_ns = now(CLOCK_MONOTONIC);
    }
    sleep_until(release_ns + period_ns);
    pthread_join(other, NULL);
    FILE *const file = getenv("OUTSIDE_OWN_TIMES") != NULL ? fopen(getenv("OUTSIDE_OWN_TIMES"), "w") : NULL;
    for (int64_t k = 0; file != NULL && k < steps; k++) {
        fprintf(file, "%lld %lld %lld\n", (long long)own[k].release_ns, (long long)own[k].before_ns, (long long)own[k].after_ns);
    }
    return file != NULL && fclose(file) != 0;
}
