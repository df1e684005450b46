/* Steps of known behaviour, for tests/probe/test_probe_step.py: each is NAME of `lib.so:NAME`. */
#define _GNU_SOURCE
#include "tautochrone_step.h"

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CRASHES_IN = 150, WORK_US = 100, EVENT_EVERY = 10, NS_PER_US = 1000 };

TAUTOCHRONE_STEP(measured)

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void spin(int64_t ns)
{
    for (const int64_t until = now_ns() + ns; now_ns() < until;) {
    }
}

int nothing_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    return 0;
}

/* Work of 100 us, which it measures itself; what it found goes to the file that STEP_OWN_TIMES names. */
struct own_times {
    size_t count;
    int64_t ns[100000];
};

void *measured_init(void)
{
    return calloc(1, sizeof(struct own_times));
}

int measured_step(void *context, uint64_t k, int64_t t_ns)
{
    struct own_times *const own = context;
    const int64_t begin_ns = now_ns();
    (void)k, (void)t_ns;
    spin((int64_t)WORK_US * NS_PER_US);
    if (own->count < sizeof own->ns / sizeof own->ns[0]) {
        own->ns[own->count++] = now_ns() - begin_ns;
    }
    return 0;
}

void measured_end(void *context)
{
    const struct own_times *const own = context;
    FILE *const out = fopen(getenv("STEP_OWN_TIMES"), "w");
    for (size_t i = 0; i < own->count; i++) {
        fprintf(out, "%lld\n", (long long)own->ns[i]);
    }
    fclose(out);
}

/* Ten times the work in each tenth step. */
int event(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)t_ns;
    spin((int64_t)(k % EVENT_EVERY == 0 ? 500 : 50) * NS_PER_US);
    return 0;
}

/* What it is called with. */
int told_step(void *context, uint64_t k, int64_t t_ns)
{
    static uint64_t next;
    (void)context;
    return k != next++ ? 7 : t_ns != (int64_t)k * 2000000 ? 8 : 0;
}

/* A page that was never touched, in each step. */
int faults_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    volatile char *const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return 1;
    }
    page[0] = 1;
    return 0;
}

/* A call that a loop of a real-time thread is likelier to make than others. */
int ranks_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    return sched_get_priority_max(SCHED_FIFO) > 0 ? 0 : 1;
}

int sleeps_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    const struct timespec some = {.tv_nsec = 200000};
    nanosleep(&some, NULL);
    return 0;
}

int crashes_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)t_ns;
    if (k == CRASHES_IN) {
        volatile int *volatile const nowhere = NULL;
        *nowhere = 0;
    }
    return 0;
}

int exits_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)t_ns;
    if (k == CRASHES_IN) {
        exit(3);
    }
    return 0;
}

int quits_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)t_ns;
    return k == CRASHES_IN ? 5 : 0;
}

int hangs_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)t_ns;
    for (volatile int on = 1; k == CRASHES_IN && on;) {
    }
    return 0;
}

/* Takes all signals that it can, and hangs. */
int stubborn_step(void *context, uint64_t k, int64_t t_ns)
{
    for (int number = 1; number < 32; number++) {
        (void)signal(number, SIG_IGN);
    }
    return hangs_step(context, k, t_ns);
}

int allocates_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    for (;;) {
        char *const some = malloc(1 << 24);
        if (some == NULL) {
            return 12;
        }
        some[0] = 1;
    }
}

int prints_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)t_ns;
    printf("step %d\n", (int)k);
    return 0;
}

int closes_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    for (int file = 0; file < 1024; file++) {
        close(file);
    }
    return 0;
}

static void on_alarm(int signal)
{
    (void)signal;
}

/* Signals that end its sleeps early. */
void *alarms_init(void)
{
    const struct itimerval often = {.it_interval = {.tv_usec = 700}, .it_value = {.tv_usec = 700}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &often, NULL);
    return calloc(1, 1);
}

int alarms_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    return 0;
}

/* A process that would outlive it. */
void *forks_init(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            sleep(600);
        }
        _exit(0);
    }
    return calloc(1, 1);
}

int forks_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    return 0;
}

static double twice[3]; /* what goes in; twice that; the sum of all that went in */

void doubles_signals(void *context, struct tautochrone_signals *signals)
{
    static const char *const outputs[] = {"twice", "sum"};
    (void)context;
    *signals = (struct tautochrone_signals){.inputs = 1, .outputs = 2, .in = twice, .out = twice + 1, .output_names = outputs};
}

int doubles_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context;
    (void)k;
    (void)t_ns;
    twice[1] = 2 * twice[0];
    twice[2] += twice[0];
    return 0;
}

void crowded_signals(void *context, struct tautochrone_signals *signals)
{
    (void)context;
    *signals = (struct tautochrone_signals){.inputs = 65, .in = twice};
}

int crowded_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context;
    (void)k;
    (void)t_ns;
    return 0;
}

static double mirrored[2]; /* the newest k that came back; this one */

void mirrors_signals(void *context, struct tautochrone_signals *signals)
{
    (void)context;
    *signals = (struct tautochrone_signals){.inputs = 1, .outputs = 1, .in = mirrored, .out = mirrored + 1};
}

/* Through an echo: what comes back was sent before, and never gets older. */
int mirrors_step(void *context, uint64_t k, int64_t t_ns)
{
    static double before;
    (void)context, (void)t_ns;
    const int is_wrong = mirrored[0] < before || (k > 0 && mirrored[0] >= (double)k);
    before = mirrored[0];
    mirrored[1] = (double)k;
    return is_wrong ? 9 : 0;
}

void *fails_init(void)
{
    return NULL;
}

int fails_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    return 0;
}

void *crashes_early_init(void)
{
    abort();
}

int crashes_early_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    return 0;
}

int crashes_late_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    return 0;
}

void crashes_late_end(void *context)
{
    (void)context;
    abort();
}

/* The rights that it has, as the system says; to the file that STEP_RIGHTS names. */
int rights_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)t_ns;
    char line[256];
    FILE *const in = k == 0 ? fopen("/proc/self/status", "r") : NULL;
    FILE *const out = in != NULL ? fopen(getenv("STEP_RIGHTS"), "w") : NULL;
    while (out != NULL && fgets(line, sizeof line, in) != NULL) {
        fputs(line, out);
    }
    if (out != NULL) {
        fclose(out);
        fclose(in);
    }
    return 0;
}

/* As Simulink's Embedded Coder writes it. */
static int initialized;

void pendulum_initialize(void)
{
    initialized = 1;
}

void pendulum_step(void)
{
    initialized += initialized > 0;
    if (initialized == 0) {
        abort();
    }
}

void pendulum_terminate(void)
{
    fprintf(stderr, "pendulum made %d steps\n", initialized - 1);
}

/* What keeps a step from real time, each by a function of its own, for --explain. */

#ifdef __clang__
#define CALLED_BY __attribute__((noinline))
#else
#define CALLED_BY __attribute__((noinline, noclone))
#endif

/* Three blocks in each step, all given back. */
CALLED_BY static void update_state(void *blocks[3])
{
    for (int i = 0; i < 3; i++) {
        blocks[i] = i < 2 ? malloc(100) : calloc(10, 10);
    }
    for (int i = 0; i < 3; i++) {
        free(blocks[i]);
    }
}

int heaps_step(void *context, uint64_t k, int64_t t_ns)
{
    void *blocks[3];
    (void)context, (void)k, (void)t_ns;
    update_state(blocks);
    return 0;
}

/* Blocks that begin where a page does, by calls of old. */
int pages_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    void *const blocks[] = {valloc(100), pvalloc(100)};
    free(blocks[0]);
    free(blocks[1]);
    return 0;
}

/* The same in each tenth step. */
int sometimes_step(void *context, uint64_t k, int64_t t_ns)
{
    return k % EVENT_EVERY == 0 ? heaps_step(context, k, t_ns) : 0;
}

/* A line in a file, by the C library's own buffer. */
CALLED_BY static int log_line(FILE *log, uint64_t k)
{
    return fprintf(log, "step %d\n", (int)k) < 0 || fflush(log) != 0;
}

void *logs_init(void)
{
    return fopen(getenv("STEP_LOG"), "w");
}

int logs_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)t_ns;
    return log_line(context, k);
}

/* A lock that another thread holds half of the time, and longer than a step can begin without it. */
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

static void *hold_lock(void *nothing)
{
    const struct timespec some = {.tv_nsec = 3000000};
    for (;;) {
        pthread_mutex_lock(&shared_lock);
        nanosleep(&some, NULL);
        pthread_mutex_unlock(&shared_lock);
        nanosleep(&some, NULL);
    }
    return nothing;
}

CALLED_BY static void read_shared(void)
{
    pthread_mutex_lock(&shared_lock);
    pthread_mutex_unlock(&shared_lock);
}

void *waits_init(void)
{
    pthread_t holder;
    return pthread_create(&holder, NULL, hold_lock, NULL) == 0 ? calloc(1, 1) : NULL;
}

int waits_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    read_shared();
    return 0;
}

/* A page of its own data, in each step another one: nothing that a step calls. */
static char never_touched[4096 * 4096];

CALLED_BY static void fill_page(uint64_t k)
{
    ((volatile char *)never_touched)[k % 4096 * 4096] = 1;
}

/* A huge page would be one fault for many. */
void *touches_init(void)
{
    const uintptr_t begin = ((uintptr_t)never_touched + 4095) / 4096 * 4096;
    (void)madvise((void *)begin, sizeof never_touched - 4096, MADV_NOHUGEPAGE);
    return calloc(1, 1);
}

int touches_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)t_ns;
    fill_page(k);
    return 0;
}

CALLED_BY static int are_same(void *volatile const *places)
{
    return places[0] == places[7];
}

/* What its stack begins with is no caller: addresses of data. */
CALLED_BY static int fill_beside(uint64_t k)
{
    void *volatile places[8];
    for (int i = 0; i < 8; i++) {
        places[i] = never_touched;
    }
    ((volatile char *)never_touched)[k % 4096 * 4096] = 1;
    return are_same(places) ? 0 : 1;
}

void *beside_init(void)
{
    return touches_init();
}

int beside_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)t_ns;
    return fill_beside(k);
}

/* More pages in each tenth step than anybody looks at one by one. */
int floods_step(void *context, uint64_t k, int64_t t_ns)
{
    enum { PAGES = 12000, PAGE_BYTES = 4096 };
    const size_t bytes = (size_t)PAGES * PAGE_BYTES;
    (void)context, (void)t_ns;
    if (k % EVENT_EVERY != 0) {
        return 0;
    }
    char *const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || madvise(memory, bytes, MADV_NOHUGEPAGE) != 0) {
        return 1;
    }
    for (size_t at = 0; at < bytes; at += PAGE_BYTES) {
        ((volatile char *)memory)[at] = 1;
    }
    return munmap(memory, bytes);
}

/* A thread in each step, that is over at once; what it calls is not the step's. */
static void *work_aside(void *nothing)
{
    free(malloc(10));
    return nothing;
}

CALLED_BY static int start_worker(void)
{
    pthread_t worker;
    return pthread_create(&worker, NULL, work_aside, NULL) != 0 || pthread_join(worker, NULL) != 0;
}

int threads_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    return start_worker();
}

/* Signals that come in its steps, whose handler has all others blocked; and a mask of its own. */
static void on_tick(int signal)
{
    (void)signal;
    (void)getppid();
}

void *masks_init(void)
{
    struct sigaction action = {.sa_handler = on_tick};
    const struct itimerval often = {.it_interval = {.tv_usec = 300}, .it_value = {.tv_usec = 300}};
    sigfillset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    return calloc(1, 1);
}

int masks_step(void *context, uint64_t k, int64_t t_ns)
{
    sigset_t all;
    sigset_t before;
    (void)context, (void)k, (void)t_ns;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)getppid();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    spin((int64_t)WORK_US * NS_PER_US);
    return 0;
}

/* A process, as system(3) starts it. */
int spawns_step(void *context, uint64_t k, int64_t t_ns)
{
    (void)context, (void)k, (void)t_ns;
    const pid_t child = fork();
    if (child == 0) {
        free(malloc(10));
        _exit(0);
    }
    return child < 0 || waitpid(child, NULL, 0) != child;
}
