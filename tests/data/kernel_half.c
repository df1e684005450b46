/* What the kernel half refuses, and that nothing of an experiment outlives its file. Says what was not as expected. */
#define _GNU_SOURCE
#include "tautochrone.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int wrong;

static void expect(const char *what, int got, int wanted)
{
    if (got != wanted) {
        printf("%s: %s instead of %s\n", what, strerror(got), strerror(wanted));
        wrong++;
    }
}

static int open_device(void)
{
    return open(TAUTOCHRONE_DEVICE, O_RDWR | O_CLOEXEC);
}

static int ask(int file, unsigned long request, void *argument)
{
    return ioctl(file, request, argument) < 0 ? errno : 0;
}

static struct tautochrone_setup usual(void)
{
    return (struct tautochrone_setup){
        .version = TAUTOCHRONE_VERSION,
        .measure = TAUTOCHRONE_RESPONSE,
        .period_ns = 1000000,
        .count = 1000000,
        .warmup = 1,
        .rows = 64,
        .tasks = {{.cpu = 0, .priority = 80}, {.cpu = 0, .priority = 81}},
    };
}

static void refuses_values(int file)
{
    static const struct {
        const char *what;
        int wanted;
        size_t offset;
        size_t bytes;
        int64_t value;
    } cases[] = {
#define CASE(what, wanted, field, value)                                                                              \
    {what, wanted, offsetof(struct tautochrone_setup, field), sizeof(((struct tautochrone_setup *)0)->field), value}
        CASE("version", EPROTONOSUPPORT, version, 99),
        CASE("measure", EINVAL, measure, TAUTOCHRONE_MEASURES),
        CASE("mechanism", EINVAL, mechanism, TAUTOCHRONE_MECHANISMS),
        CASE("flags", EINVAL, flags, TAUTOCHRONE_SOFT),
        CASE("reserved", EINVAL, reserved, 1),
        CASE("period 0", ERANGE, period_ns, 0),
        CASE("period -1", ERANGE, period_ns, -1),
        CASE("period 19 us", ERANGE, period_ns, 19999),
        CASE("count 0", ERANGE, count, 0),
        CASE("count of all", ERANGE, count, INT64_MAX),
        CASE("warmup -1", ERANGE, warmup, -1),
        CASE("rows 0", ERANGE, rows, 0),
        CASE("rows of all", ERANGE, rows, UINT32_MAX),
        CASE("cpu -1", ENODEV, tasks[0].cpu, -1),
        CASE("cpu 4000", ENODEV, tasks[1].cpu, 4000),
        CASE("priority 0", EINVAL, tasks[0].priority, 0),
        CASE("priority 100", EINVAL, tasks[1].priority, 100),
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tautochrone_setup setup = usual();
        memcpy((char *)&setup + cases[i].offset, &cases[i].value, cases[i].bytes);
        expect(cases[i].what, ask(file, TAUTOCHRONE_SETUP, &setup), cases[i].wanted);
    }
}

static void refuses_out_of_order(int file)
{
    struct tautochrone_setup setup = usual();
    struct tautochrone_record record;
    int64_t instant = 0;
    expect("start without setup", ask(file, TAUTOCHRONE_START, NULL), EINVAL);
    expect("read without setup", read(file, &record, sizeof record) < 0 ? errno : 0, EINVAL);
    expect("receive without setup", ask(file, TAUTOCHRONE_RECEIVE, &instant), EINVAL);
    expect("setup at no address", ask(file, TAUTOCHRONE_SETUP, NULL), EFAULT);
    expect("unknown request", ask(file, _IO('T', 0xef), NULL), ENOTTY);
    expect("second user", open_device() < 0 ? errno : 0, EBUSY);
    expect("setup", ask(file, TAUTOCHRONE_SETUP, &setup), 0);
    expect("its policy", setup.tasks[1].policy, 1 /* SCHED_FIFO */);
    expect("its priority", setup.tasks[1].priority, 81);
    expect("setup again", ask(file, TAUTOCHRONE_SETUP, &setup), 0);
    sleep(4); /* threads that wait for the start do not count as hung */
    expect("start", ask(file, TAUTOCHRONE_START, NULL), 0);
    expect("start again", ask(file, TAUTOCHRONE_START, NULL), EINVAL);
    expect("setup while it runs", ask(file, TAUTOCHRONE_SETUP, &setup), EBUSY);
    expect("receive of kernel threads", ask(file, TAUTOCHRONE_RECEIVE, &instant), EINVAL);
    expect("answer of kernel threads", ask(file, TAUTOCHRONE_ANSWER, &instant), EINVAL);
    expect("nothing there yet", read(file, &record, sizeof record) < 0 ? errno : 0, EAGAIN);
    expect("half a record", read(file, &record, 8) < 0 ? errno : 0, EINVAL);
}

static void holds(int file)
{
    struct tautochrone_hold hold = {.what = TAUTOCHRONE_HOLDS, .length_ns = 1000};
    expect("hold of nothing", ask(file, TAUTOCHRONE_HOLD, &hold), EINVAL);
    expect("hold at no address", ask(file, TAUTOCHRONE_HOLD, NULL), EFAULT);
    hold = (struct tautochrone_hold){.reserved = 1};
    expect("hold, reserved", ask(file, TAUTOCHRONE_HOLD, &hold), EINVAL);
    hold = (struct tautochrone_hold){.length_ns = TAUTOCHRONE_LONGEST_HOLD_NS + 1};
    expect("hold for too long", ask(file, TAUTOCHRONE_HOLD, &hold), ERANGE);
    hold.length_ns = -1;
    expect("hold for less than nothing", ask(file, TAUTOCHRONE_HOLD, &hold), ERANGE);
    for (uint32_t what = 0; what < TAUTOCHRONE_HOLDS; what++) {
        hold = (struct tautochrone_hold){.what = what, .length_ns = 300000};
        expect("hold", ask(file, TAUTOCHRONE_HOLD, &hold), 0);
        expect("its length", hold.end_ns - hold.begin_ns >= 300000 && hold.end_ns - hold.begin_ns < 400000, true);
    }
}

static void balances(int file)
{
    struct tautochrone_books books;
    struct tautochrone_record records[100];
    usleep(200000); /* more records than there is room for */
    expect("stop", ask(file, TAUTOCHRONE_STOP, NULL), 0);
    expect("stop again", ask(file, TAUTOCHRONE_STOP, NULL), 0);
    expect("books", ask(file, TAUTOCHRONE_BOOKS, &books), 0);
    expect("ended", (int)books.ended, 1);
    expect("released = completed + missed", books.released == books.completed + books.missed, true);
    expect("completed = recorded + dropped", books.completed == books.recorded + books.dropped, true);
    expect("the buffer was full", books.recorded == 64 && books.dropped > 0, true);
    expect("read", (int)read(file, records, sizeof records), 64 * (int)sizeof records[0]);
    expect("order", records[63].k == 63 && records[0].k == 0, true);
    expect("the end", (int)read(file, records, sizeof records), 0);
}

static int threads(void)
{
    FILE *const list = popen("ps -o comm | grep -c ^tautochrone", "r");
    int count = -1;
    if (list == NULL || fscanf(list, "%d", &count) != 1) {
        count = -1;
    }
    pclose(list);
    return count;
}

static void *receive(void *file)
{
    int64_t number;
    while (ask(*(int *)file, TAUTOCHRONE_RECEIVE, &number) == 0) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t instant = now.tv_sec * 1000000000LL + now.tv_nsec;
        ask(*(int *)file, TAUTOCHRONE_ANSWER, &instant);
    }
    return NULL;
}

/* A user that is killed while each mechanism runs: its threads are gone, and the next one is served. */
static void ends_with_its_user(uint32_t measure, uint32_t mechanism, bool answers)
{
    int ready[2];
    char byte;
    int status;
    if (pipe(ready) != 0) {
        wrong++;
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        struct tautochrone_setup setup = usual();
        int file = open_device();
        pthread_t thread;
        setup.measure = measure;
        setup.mechanism = mechanism;
        if (ask(file, TAUTOCHRONE_SETUP, &setup) != 0 || ask(file, TAUTOCHRONE_START, NULL) != 0) {
            _exit(1);
        }
        if (answers) {
            pthread_create(&thread, NULL, receive, &file);
        }
        usleep(50000);
        (void)!write(ready[1], "", 1);
        pause();
    }
    close(ready[1]);
    expect("child begins", (int)read(ready[0], &byte, 1), 1);
    expect("threads run", threads() > 0, true);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    close(ready[0]);
    expect("threads that are left", threads(), 0);
    const int file = open_device();
    expect("open again", file < 0 ? errno : 0, 0);
    close(file);
}

struct waiter {
    int file;
    atomic_int ends;
    atomic_bool done;
};

static void *wait_again_and_again(void *argument)
{
    struct waiter *const waiter = argument;
    int64_t number;
    while (!waiter->done) {
        const int error = ask(waiter->file, TAUTOCHRONE_RECEIVE, &number);
        waiter->ends += error == EPIPE;
        usleep(1000); /* nothing is set up, or SETUP has the channels */
    }
    return NULL;
}

/* This thread goes first wherever both could, so a RECEIVE that SETUP does not wait for would be in the next experiment. */
static void ends_who_still_receives(void)
{
    enum { TIMES = 20 };
    struct waiter waiter = {.file = open_device()};
    struct tautochrone_setup setup = usual();
    struct sched_param first = {.sched_priority = 1}, other = {0};
    pthread_t thread;
    setup.mechanism = TAUTOCHRONE_USER;
    expect("setup for a user thread", ask(waiter.file, TAUTOCHRONE_SETUP, &setup), 0);
    pthread_create(&thread, NULL, wait_again_and_again, &waiter);
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
    for (int i = 0; i < TIMES; i++) {
        usleep(50000); /* it is in RECEIVE */
        const int ends = waiter.ends;
        expect("setup beside RECEIVE", ask(waiter.file, TAUTOCHRONE_SETUP, &setup), 0);
        usleep(50000);
        expect("RECEIVE ended with its experiment", waiter.ends > ends, true);
    }
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &other);
    waiter.done = true;
    ask(waiter.file, TAUTOCHRONE_STOP, NULL);
    pthread_join(thread, NULL);
    close(waiter.file);
}

int main(void)
{
    int file = open_device();
    expect("open", file < 0 ? errno : 0, 0);
    refuses_values(file);
    refuses_out_of_order(file);
    balances(file);
    holds(file);
    close(file);
    for (uint32_t i = 0; i < TAUTOCHRONE_MECHANISMS; i++) {
        ends_with_its_user(TAUTOCHRONE_RESPONSE, i, false);
    }
    ends_with_its_user(TAUTOCHRONE_RESPONSE, TAUTOCHRONE_USER, true);
    ends_with_its_user(TAUTOCHRONE_INTERRUPT, 0, false);
    ends_with_its_user(TAUTOCHRONE_PERIOD, 0, false);
    ends_who_still_receives();
    if (setuid(65534) == 0) {
        expect("without CAP_SYS_ADMIN", open_device() < 0 ? errno : 0, EACCES);
    }
    puts(wrong == 0 ? "as expected" : "not as expected");
    return wrong != 0;
}
