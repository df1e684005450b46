/*
 * Holds up what runs on CPU 0 of a guest, again and again: culprits WAY LENGTH EVERY_NS TIMES. In the end it says from when
 * to when it did, a line for each; 0 0 where it could not. LENGTH is in ns; of storms it is how many threads or sockets.
 *
 * thread   a thread of a priority above all that is measured computes
 * timers   as many threads sleep until the same instant: one timer interrupt wakes them all
 * softirq  one datagram goes to as many sockets, in one softirq
 * stopped  SIGSTOP for the probe, and later SIGCONT
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

enum { SECOND_NS = 1000000000, MOST = 4096, CROWD = 1024, CROWD_STACK = 16384 };
enum { URGENT = 99, USUAL = 10, LOW = 5, AHEAD_NS = 400000, AFTER_NS = 2000000 };

typedef long long instant; /* ns on CLOCK_MONOTONIC */

struct held {
    instant begin, end;
};

static instant crowd_at[MOST], next_at, every_ns;
static int times;
static long length;

static instant now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * (instant)SECOND_NS + at.tv_nsec;
}

static void sleep_until(instant at)
{
    const struct timespec until = {.tv_sec = at / SECOND_NS, .tv_nsec = at % SECOND_NS};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void be_of(int priority)
{
    const struct sched_param parameters = {.sched_priority = priority};
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) != 0) {
        fail("pthread_setschedparam");
    }
}

static struct held hold(int i)
{
    (void)i;
    sleep_until(next_at);
    struct held held = {.begin = now()};
    do {
        held.end = now();
    } while (held.end - held.begin < length);
    return held;
}

static void *one_of_crowd(void *unused)
{
    for (int i = 0; i < times; i++) {
        sleep_until(crowd_at[i]);
    }
    return unused;
}

static void begin_timers(void)
{
    pthread_attr_t attributes;
    const struct sched_param low = {.sched_priority = LOW};
    for (int i = 0; i < times; i++) {
        crowd_at[i] = next_at + (i + 1) * every_ns;
    }
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, CROWD_STACK);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED); /* real-time, so its timer is one of the interrupt */
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &low);
    for (long i = 0; i < length; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, one_of_crowd, NULL) != 0) {
            fail("pthread_create");
        }
    }
}

/* It reads the clock all the while: what takes longest between two readings is the storm. */
static struct held wait_for_timers(int i)
{
    const instant at = crowd_at[i];
    struct held longest = {0, 0};
    sleep_until(at - AHEAD_NS);
    instant before = now();
    for (instant after = before; after < at + AFTER_NS; before = after) {
        after = now();
        if (after - before > longest.end - longest.begin) {
            longest = (struct held){before, after};
        }
    }
    return longest;
}

static int sender;
static struct sockaddr_in group;

static void begin_datagrams(void)
{
    static const int yes = 1;
    const struct rlimit files = {CROWD, CROWD};
    struct ip_mreq member;
    socklen_t bytes = sizeof group;
    setrlimit(RLIMIT_NOFILE, &files);
    group.sin_family = AF_INET;
    member.imr_multiaddr.s_addr = group.sin_addr.s_addr = inet_addr("239.117.0.1");
    member.imr_interface.s_addr = inet_addr("127.0.0.1");
    for (long i = 0; i < length; i++) {
        const int taker = socket(AF_INET, SOCK_DGRAM, 0);
        if (taker < 0 || setsockopt(taker, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
            bind(taker, (struct sockaddr *)&group, sizeof group) != 0 ||
            getsockname(taker, (struct sockaddr *)&group, &bytes) != 0 ||
            setsockopt(taker, IPPROTO_IP, IP_ADD_MEMBERSHIP, &member, sizeof member) != 0) {
            fail("a socket of the group");
        }
    }
    sender = socket(AF_INET, SOCK_DGRAM, 0);
    if (sender < 0 || setsockopt(sender, IPPROTO_IP, IP_MULTICAST_IF, &member.imr_interface, sizeof member.imr_interface)) {
        fail("the sender");
    }
}

static struct held send_datagram(int i)
{
    (void)i;
    sleep_until(next_at);
    struct held held = {.begin = now()};
    if (sendto(sender, "all", 3, 0, (struct sockaddr *)&group, sizeof group) != 3) {
        fail("sendto");
    }
    held.end = now();
    return held;
}

/* Of the first program of this name, or 0. */
static pid_t find(const char *name)
{
    pid_t found = 0;
    DIR *const processes = opendir("/proc");
    for (struct dirent *entry; found == 0 && processes != NULL && (entry = readdir(processes)) != NULL;) {
        char path[300], comm[32] = "";
        snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
        FILE *const file = fopen(path, "r");
        if (file != NULL) {
            found = fgets(comm, sizeof comm, file) != NULL && strncmp(comm, name, strlen(name)) == 0 ? atoi(entry->d_name) : 0;
            fclose(file);
        }
    }
    if (processes != NULL) {
        closedir(processes);
    }
    return found;
}

/* On one CPU its threads have all stopped when this one, of a lower priority, goes on. */
static struct held stop(int i)
{
    static pid_t probe;
    (void)i;
    sleep_until(next_at);
    probe = probe != 0 ? probe : find("tauto-probe");
    if (probe == 0 || kill(probe, SIGSTOP) != 0) {
        return (struct held){0, 0};
    }
    struct held held = {.begin = now()};
    sleep_until(held.begin + length);
    held.end = now();
    kill(probe, SIGCONT);
    return held;
}

static const struct way {
    const char *name;
    int priority;
    void (*begin)(void);
    struct held (*once)(int i);
} ways[] = {
    {"thread", URGENT, NULL, hold},
    {"timers", USUAL, begin_timers, wait_for_timers},
    {"softirq", URGENT, begin_datagrams, send_datagram},
    {"stopped", USUAL, NULL, stop},
};

int main(int count, char **words)
{
    static struct held held[MOST];
    const struct way *way = ways;
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    while (count == 5 && way < ways + sizeof ways / sizeof *ways && strcmp(way->name, words[1]) != 0) {
        way++;
    }
    if (count != 5 || way == ways + sizeof ways / sizeof *ways || sched_setaffinity(0, sizeof first, &first) != 0) {
        fail("culprits WAY LENGTH EVERY_NS TIMES");
    }
    prctl(PR_SET_NAME, "culprit");
    length = atol(words[2]);
    every_ns = atoll(words[3]);
    times = atoi(words[4]) < MOST ? atoi(words[4]) : MOST;
    be_of(way->priority);
    next_at = now();
    if (way->begin != NULL) {
        way->begin();
    }
    for (int i = 0; i < times; i++) {
        next_at += every_ns;
        held[i] = way->once(i);
    }
    for (int i = 0; i < times; i++) {
        printf("%lld %lld\n", held[i].begin, held[i].end);
    }
    return 0;
}
