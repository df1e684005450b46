/* A program with loops of known behaviour, for tests/probe/test_probe_watch.py: `watch_program BEHAVIOUR STEPS PERIOD_US`. */
#include "tautochrone_loop.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORK_NS = 100000, NS_PER_US = 1000, NS_PER_S = 1000000000, ENDS_IN = 50, EVERY = 10 };

static const char *behaviour;
static uint64_t steps;
static int64_t period_ns;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int is(const char *what)
{
    return strcmp(behaviour, what) == 0;
}

/* What it measures of itself. */
static int64_t work(void)
{
    const int64_t begin_ns = now_ns();
    int64_t end_ns = begin_ns;
    while (end_ns < begin_ns + WORK_NS) {
        end_ns = now_ns();
    }
    return end_ns - begin_ns;
}

/* After the loop, since to write takes time. */
static void write_times(const char *path, const int64_t *times_ns)
{
    FILE *const file = fopen(path, "w");
    for (uint64_t k = 0; file != NULL && k < steps; k++) {
        fprintf(file, "%lld\n", (long long)times_ns[k]);
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void misbehave(uint64_t k)
{
    if (k != ENDS_IN) {
        return;
    }
    if (is("crashes")) {
        raise(SIGSEGV);
    } else if (is("hangs")) {
        for (;;) {
        }
    } else if (is("exits")) {
        exit(3);
    }
}

static void *loop(void *name)
{
    const char *const path = getenv("WATCH_OWN_TIMES"); /* the file for what it measures of itself */
    int64_t *const own_ns = path != NULL ? calloc(steps, sizeof *own_ns) : NULL;
    if (name != NULL) {
        TAUTO_LOOP(name);
    }
    int64_t release_ns = now_ns() + period_ns;
    for (uint64_t k = 0; k < steps; k++, release_ns += period_ns) {
        const struct timespec until = {.tv_sec = release_ns / NS_PER_S, .tv_nsec = release_ns % NS_PER_S};
        while (period_ns > 0 && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
        }
        if (is("leaves-out") && k % EVERY == EVERY - 1) {
            continue;
        }
        TAUTO_BEGIN_AT(k, is("tells") ? release_ns : 0);
        if (is("measured")) {
            const int64_t took_ns = work();
            if (own_ns != NULL) {
                own_ns[k] = took_ns;
            }
        }
        misbehave(k);
        if (!(is("forgets") && k % EVERY == EVERY - 1)) {
            TAUTO_END(k);
        }
    }
    if (own_ns != NULL) {
        write_times(path, own_ns);
        free(own_ns);
    }
    return NULL;
}

/* A child of its own that goes on, and has a loop as well. */
static void fork_one(void)
{
    const pid_t child = fork();
    loop(child == 0 ? "child" : "parent");
    if (child == 0) {
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    behaviour = argv[1];
    steps = strtoull(argv[2], NULL, 10);
    period_ns = strtoll(argv[3], NULL, 10) * NS_PER_US;
    if (is("silent")) {
        sleep(1);
    } else if (is("two")) {
        pthread_t other;
        pthread_create(&other, NULL, loop, "fast");
        loop("slow");
        pthread_join(other, NULL);
    } else if (is("many")) {
        enum { MANY = 10 };
        pthread_t threads[MANY];
        for (int i = 0; i < MANY; i++) {
            pthread_create(&threads[i], NULL, loop, "same");
        }
        for (int i = 0; i < MANY; i++) {
            pthread_join(threads[i], NULL);
        }
    } else if (is("forks")) {
        loop("parent");
        fork_one();
    } else {
        loop("control");
    }
    return 0;
}
