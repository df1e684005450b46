/*
 * Your program's own loop, measured where it runs: `tauto watch -- ./program`. This header is all that a program needs, in C
 * and C++ (GCC or Clang, Linux):
 *
 *     TAUTO_LOOP("control");                   optional, once in the thread of the loop: its name, before the first cycle
 *     for (uint64_t k = 0;; k++) {
 *         clock_nanosleep(...);
 *         TAUTO_BEGIN(k);                      or TAUTO_BEGIN_AT(k, release_ns): the instant that it slept until
 *         ...                                  the step
 *         TAUTO_END(k);
 *     }
 *
 * `k` is the number of the release: what is left out counts as missed. Each thread has one loop; a program has at most as
 * many as its watcher has room for (8). Without `tauto watch` around the program, each line costs one load and one branch.
 * With it, neither line waits, calls the system beside the clock, or allocates: a row that finds its ring full is counted.
 */
#ifndef TAUTOCHRONE_LOOP_H
#define TAUTOCHRONE_LOOP_H

#include <stdint.h>

/* The shared memory: this, then the loops, each followed by its rows. All numbers are of 64 bits. */
#define TAUTOCHRONE_LOOP_MAGIC 0x31504f4f4c415454ULL /* TTALOOP1 */
#define TAUTOCHRONE_LOOP_VARIABLE "TAUTOCHRONE_LOOP" /* of the environment: the path of the memory */

struct tautochrone_memory {
    uint64_t magic;
    uint64_t loops;   /* places */
    uint64_t rows;    /* of each ring; a power of two */
    uint64_t claimed; /* places that are taken; changed under flock(2) alone, after the name is written */
    uint64_t refused; /* threads that found no place; the same */
    uint64_t unused[3];
};

struct tautochrone_row {
    uint64_t k;
    int64_t release_ns; /* 0: the program does not tell */
    int64_t begin_ns;
    int64_t end_ns;
};

struct tautochrone_loop {
    /* Written by the loop. */
    uint64_t written;
    uint64_t dropped;   /* rows for which there was no room */
    uint64_t irregular; /* a begin without its end, or an end without its begin */
    uint64_t k;         /* of the last begin */
    uint64_t open;      /* 1 from begin to end */
    uint64_t unused_by_loop[3];
    /* Written by the watcher. */
    uint64_t read;
    uint64_t unused_by_watcher[7];
    /* Written once. */
    uint64_t thread;
    uint64_t process;
    char name[64];
    uint64_t unused[6];
};

#define TAUTOCHRONE_ROWS_OF(loop) ((struct tautochrone_row *)((loop) + 1))

#ifndef TAUTOCHRONE_LOOP_LAYOUT_ALONE

#if defined __STRICT_ANSI__ && !defined _DEFAULT_SOURCE && !defined _GNU_SOURCE
#error "tautochrone_loop.h needs what ISO C leaves out: -std=gnu17 instead of -std=c17, or -D_DEFAULT_SOURCE"
#endif

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of the thread: its loop, and the row of the step that is open. */
struct tautochrone_own {
    struct tautochrone_loop *loop; /* NULL: none yet, or there is no place */
    struct tautochrone_row *rows;
    struct tautochrone_row *row; /* NULL: no step is open */
    uint64_t read_seen;
    int refused;
    struct tautochrone_row no_room;
};

/* One for the whole program, in whichever of its files this header is. */
extern struct tautochrone_memory *tautochrone_memory;
extern __thread struct tautochrone_own tautochrone_own;
__attribute__((weak)) struct tautochrone_memory *tautochrone_memory;
__attribute__((weak)) __thread struct tautochrone_own tautochrone_own;

static inline int64_t tautochrone_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline size_t tautochrone_loop_bytes(const struct tautochrone_memory *memory)
{
    return sizeof(struct tautochrone_loop) + memory->rows * sizeof(struct tautochrone_row);
}

/* A forked child has none of its parent's loops. */
static void tautochrone_forget(void)
{
    memset(&tautochrone_own, 0, sizeof tautochrone_own);
}

/* Before main, or when the library is loaded. */
__attribute__((constructor)) static void tautochrone_attach(void)
{
    const char *const path = tautochrone_memory == NULL ? getenv(TAUTOCHRONE_LOOP_VARIABLE) : NULL;
    const int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    struct stat told;
    if (file < 0) {
        return;
    }
    if (fstat(file, &told) == 0 && told.st_size >= (off_t)sizeof(struct tautochrone_memory)) {
        void *const mapped = mmap(NULL, (size_t)told.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
        if (mapped != MAP_FAILED) {
            struct tautochrone_memory *const memory = (struct tautochrone_memory *)mapped;
            const size_t needs = sizeof *memory + memory->loops * tautochrone_loop_bytes(memory);
            if (memory->magic == TAUTOCHRONE_LOOP_MAGIC && needs <= (size_t)told.st_size) {
                pthread_atfork(NULL, NULL, tautochrone_forget);
                tautochrone_memory = memory;
            } else {
                munmap(mapped, (size_t)told.st_size);
            }
        }
    }
    close(file);
}

/* Not in a step: it calls the system. `name` NULL: that of the thread. */
static __attribute__((noinline, unused)) void tautochrone_claim(const char *name)
{
    struct tautochrone_own *const own = &tautochrone_own;
    struct tautochrone_memory *const memory = tautochrone_memory;
    if (own->loop != NULL || own->refused) {
        return;
    }
    own->refused = 1;
    const char *const path = getenv(TAUTOCHRONE_LOOP_VARIABLE);
    const int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) {
        return;
    }
    int locked;
    do {
        locked = flock(file, LOCK_EX);
    } while (locked != 0 && errno == EINTR);
    if (locked != 0) {
        close(file);
        return;
    }
    if (memory->claimed < memory->loops) {
        void *const place = (char *)(memory + 1) + memory->claimed * tautochrone_loop_bytes(memory);
        struct tautochrone_loop *const loop = (struct tautochrone_loop *)place;
        char of_thread[16] = "";
        prctl(PR_GET_NAME, of_thread, 0, 0, 0);
        strncpy(loop->name, name != NULL ? name : of_thread, sizeof loop->name - 1);
        loop->thread = (uint64_t)syscall(SYS_gettid);
        loop->process = (uint64_t)getpid();
        own->rows = TAUTOCHRONE_ROWS_OF(loop);
        own->loop = loop;
        __atomic_store_n(&memory->claimed, memory->claimed + 1, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n(&memory->refused, memory->refused + 1, __ATOMIC_RELAXED);
    }
    close(file); /* the lock, too */
}

static inline void tautochrone_count(uint64_t *counter)
{
    __atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

static inline void tautochrone_begin(uint64_t k, int64_t release_ns)
{
    struct tautochrone_own *const own = &tautochrone_own;
    if (__builtin_expect(own->loop == NULL, 0)) {
        tautochrone_claim(NULL);
        if (own->loop == NULL) {
            return;
        }
    }
    struct tautochrone_loop *const loop = own->loop;
    const uint64_t rows = tautochrone_memory->rows;
    if (__builtin_expect(own->row != NULL, 0)) {
        tautochrone_count(&loop->irregular);
    }
    own->row = &own->rows[loop->written & (rows - 1)];
    if (loop->written - own->read_seen >= rows) {
        own->read_seen = __atomic_load_n(&loop->read, __ATOMIC_ACQUIRE);
        own->row = loop->written - own->read_seen >= rows ? &own->no_room : own->row;
    }
    __atomic_store_n(&loop->k, k, __ATOMIC_RELAXED);
    __atomic_store_n(&loop->open, 1, __ATOMIC_RELEASE);
    own->row->k = k;
    own->row->release_ns = release_ns;
    own->row->begin_ns = tautochrone_now_ns();
}

static inline void tautochrone_end(uint64_t k)
{
    const int64_t end_ns = tautochrone_now_ns();
    struct tautochrone_own *const own = &tautochrone_own;
    struct tautochrone_row *const row = own->row;
    struct tautochrone_loop *const loop = own->loop;
    if (__builtin_expect(loop == NULL, 0)) {
        return;
    }
    own->row = NULL;
    if (__builtin_expect(row == NULL || row->k != k, 0)) {
        tautochrone_count(&loop->irregular);
    } else if (__builtin_expect(row == &own->no_room, 0)) {
        tautochrone_count(&loop->dropped);
    } else {
        row->end_ns = end_ns;
        __atomic_store_n(&loop->written, loop->written + 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&loop->open, 0, __ATOMIC_RELEASE);
}

#define TAUTOCHRONE_IF_WATCHED(call)                        \
    do {                                                    \
        if (__builtin_expect(tautochrone_memory != 0, 0)) { \
            call;                                           \
        }                                                   \
    } while (0)
#define TAUTO_LOOP(name) TAUTOCHRONE_IF_WATCHED(tautochrone_claim(name))
#define TAUTO_BEGIN_AT(k, release_ns) TAUTOCHRONE_IF_WATCHED(tautochrone_begin((uint64_t)(k), (release_ns)))
#define TAUTO_BEGIN(k) TAUTO_BEGIN_AT(k, 0)
#define TAUTO_END(k) TAUTOCHRONE_IF_WATCHED(tautochrone_end((uint64_t)(k)))

#endif
#endif
