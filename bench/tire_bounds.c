/*
 * What bounds a step of the tire on this CPU, beside which bench/tire.py sets what TIRE_HALO does:
 *
 *   tire_bounds pairs SECONDS CPU
 *       square roots, each followed by a division, in one second: a step needs three such pairs for two masses
 *   tire_bounds move NODES COPIES SECONDS CPU [CPU]
 *       masses in one second whose state is read and written, in arrays as those of TIRE_HALO, and nothing computed; two
 *       copies take turns, or one is written where it was read. The CPUs share the masses and meet after each pass.
 *
 * bench/tire.py builds it with LANES and the flags of the kernel that the probe uses here.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <math.h>

typedef double vec __attribute__((vector_size(8 * LANES)));

enum { CHAINS = 12, BATCH = 20000, ARRAYS = 8, LINE = 8, PAGE_LINES = 64, STAGGER_LINES = 5, CPUS_MOST = 2 };

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        perror("sched_setaffinity");
        exit(1);
    }
}

/* So many chains that each pair has long ended before the next one of its chain begins: throughput, not latency. */
static void pairs(double seconds)
{
    vec chains[CHAINS];
    for (int chain = 0; chain < CHAINS; chain++) {
        for (int lane = 0; lane < LANES; lane++) {
            chains[chain][lane] = 1 + chain + 0.1 * lane;
        }
    }
    const double begin = now_s();
    double end = begin;
    uint64_t done = 0;
    while (end - begin < seconds) {
        for (int round = 0; round < BATCH; round++) {
            for (int chain = 0; chain < CHAINS; chain++) {
                vec root;
                for (int lane = 0; lane < LANES; lane++) {
                    root[lane] = sqrt(chains[chain][lane]);
                }
                chains[chain] = 3.0 / root;
            }
        }
        done += (uint64_t)BATCH * CHAINS * LANES;
        end = now_s();
    }
    volatile vec used; /* or what nobody needs would not be computed */
    for (int chain = 0; chain < CHAINS; chain++) {
        used = chains[chain];
    }
    (void)used;
    printf("%.0f\n", (double)done / (end - begin));
}

static struct {
    double *copies[2][ARRAYS];
    size_t half;
    int threads;
    int cpus[CPUS_MOST];
    double seconds;
    atomic_uint arrived;
    atomic_bool over;
    uint64_t passes;
    double elapsed_s;
} shared;

static void make_arrays(size_t nodes, int copies)
{
    shared.half = nodes / 2;
    const size_t needed = (shared.half + LINE - 1) / LINE + 3; /* the halo and its padding */
    const size_t beyond = (needed + PAGE_LINES - STAGGER_LINES) % PAGE_LINES;
    const size_t stride = LINE * (beyond == 0 ? needed : needed + PAGE_LINES - beyond);
    const size_t bytes = (size_t)copies * ARRAYS * stride * sizeof(double);
    double *const memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (memory == NULL) {
        perror("aligned_alloc");
        exit(1);
    }
    memset(memory, 0, bytes);
    for (int i = 0; i < 2 * ARRAYS; i++) {
        shared.copies[i / ARRAYS][i % ARRAYS] = memory + (size_t)(i % (copies * ARRAYS)) * stride;
    }
}

static void meet(unsigned count)
{
    atomic_fetch_add(&shared.arrived, 1);
    while (atomic_load(&shared.arrived) < count) {
    }
}

static void move(double *const *from, double *const *to, size_t first, size_t last)
{
    for (size_t at = first; at < last; at += LANES) {
        for (int array = 0; array < ARRAYS; array++) {
            vec v;
            memcpy(&v, from[array] + at, sizeof v);
            v += 1; /* or nothing would be left to do where both are one */
            memcpy(to[array] + at, &v, sizeof v);
        }
    }
}

static void *move_part(void *argument)
{
    const int thread = *(const int *)argument;
    const int threads = shared.threads;
    pin(shared.cpus[thread]);
    const size_t lines = shared.half / LINE;
    const size_t first = lines * (size_t)thread / (size_t)threads * LINE;
    const size_t last = thread == threads - 1 ? shared.half : lines * (size_t)(thread + 1) / (size_t)threads * LINE;
    double begin = 0;
    for (uint64_t pass = 0;; pass++) {
        if (thread == 0) {
            const double now = now_s();
            if (pass == 2) { /* two passes to touch everything */
                begin = now;
            }
            shared.passes = pass - 2;
            shared.elapsed_s = now - begin;
            atomic_store(&shared.over, pass > 4 && pass % 2 == 0 && shared.elapsed_s >= shared.seconds);
        }
        meet((unsigned)threads * (unsigned)(2 * pass + 1));
        if (atomic_load(&shared.over)) {
            return NULL;
        }
        move(shared.copies[pass % 2], shared.copies[1 - pass % 2], first, last);
        meet((unsigned)threads * (unsigned)(2 * pass + 2));
    }
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "pairs") == 0) {
        pin(atoi(argv[3]));
        pairs(atof(argv[2]));
        return 0;
    }
    if ((argc != 6 && argc != 7) || strcmp(argv[1], "move") != 0) {
        fprintf(stderr, "usage: tire_bounds pairs SECONDS CPU | move NODES COPIES SECONDS CPU [CPU]\n");
        return 2;
    }
    make_arrays((size_t)atoll(argv[2]), atoi(argv[3]));
    shared.seconds = atof(argv[4]);
    shared.threads = argc - 5;
    pthread_t others[CPUS_MOST];
    int numbers[CPUS_MOST];
    for (int thread = 0; thread < shared.threads; thread++) {
        shared.cpus[thread] = atoi(argv[5 + thread]);
        numbers[thread] = thread;
    }
    for (int thread = 1; thread < shared.threads; thread++) {
        if (pthread_create(&others[thread], NULL, move_part, &numbers[thread]) != 0) {
            perror("pthread_create");
            return 1;
        }
    }
    move_part(&numbers[0]);
    for (int thread = 1; thread < shared.threads; thread++) {
        pthread_join(others[thread], NULL);
    }
    printf("%.0f\n", 2.0 * (double)shared.half * (double)shared.passes / shared.elapsed_s);
    return 0;
}
