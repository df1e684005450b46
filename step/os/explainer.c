/*
 * In the place of the C library's functions for the heap, and of a few others: a library that is loaded finds those of the
 * program first. Their originals have other names in glibc, too.
 */
#define _GNU_SOURCE
#include "dispatch.h"
#include "explain.h"
#include "faults.h"
#include "sites.h"

#include "format.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

void *real_malloc(size_t bytes) __asm__("__libc_malloc");
void *real_calloc(size_t count, size_t bytes) __asm__("__libc_calloc");
void *real_realloc(void *memory, size_t bytes) __asm__("__libc_realloc");
void *real_memalign(size_t alignment, size_t bytes) __asm__("__libc_memalign");
void *real_valloc(size_t bytes) __asm__("__libc_valloc");
void *real_pvalloc(size_t bytes) __asm__("__libc_pvalloc");
void real_free(void *memory) __asm__("__libc_free");

void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void *realloc(void *memory, size_t bytes);
void free(void *memory);
void *memalign(size_t alignment, size_t bytes);
void *aligned_alloc(size_t alignment, size_t bytes);
int posix_memalign(void **memory, size_t alignment, size_t bytes);
void *valloc(size_t bytes);
void *pvalloc(size_t bytes);

static void note_call(enum explained_kind kind, const char *name)
{
    const struct seen seen = {.kind = kind, .call = SYSTEM_CALLS_NONE, .name = name, .times = 1};
    struct chain chain;
    sites_watch = false;
    chain_of_callers(&chain);
    sites_note(&chain, &seen);
    sites_watch = true;
}

static inline void called(const char *name)
{
    if (sites_watch) {
        note_call(EXPLAINED_HEAP, name);
    }
}

void *malloc(size_t bytes)
{
    called("malloc");
    return real_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    called("calloc");
    return real_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    called("realloc");
    return real_realloc(memory, bytes);
}

void free(void *memory)
{
    if (memory != NULL) {
        called("free");
    }
    real_free(memory);
}

void *memalign(size_t alignment, size_t bytes)
{
    called("memalign");
    return real_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    called("aligned_alloc");
    return real_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    called("posix_memalign");
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
        return EINVAL;
    }
    void *const got = real_memalign(alignment, bytes);
    if (got == NULL) {
        return ENOMEM;
    }
    *memory = got;
    return 0;
}

void *valloc(size_t bytes)
{
    called("valloc");
    return real_valloc(bytes);
}

void *pvalloc(size_t bytes)
{
    called("pvalloc");
    return real_pvalloc(bytes);
}

/* What it takes to start a thread is not told one by one. */
int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*run)(void *),
                   void *restrict argument)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (real == NULL) {
        void *const found = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&real, &found, sizeof real);
    }
    if (!sites_watch) {
        return real(thread, attributes, run, argument);
    }
    dispatch_end();
    note_call(EXPLAINED_THREAD, "pthread_create");
    sites_watch = false;
    const int error = real(thread, attributes, run, argument);
    sites_watch = true;
    dispatch_begin();
    return error;
}

/* While a handler of the model's runs, our signal must come, too. */
int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict before)
{
    static int (*real)(int, const struct sigaction *, struct sigaction *);
    if (real == NULL) {
        void *const found = dlsym(RTLD_NEXT, "sigaction");
        memcpy(&real, &found, sizeof real);
    }
    struct sigaction ours;
    if (action != NULL) {
        ours = *action;
        sigdelset(&ours.sa_mask, SIGSYS);
    }
    return real(number, action != NULL ? &ours : NULL, before);
}

static struct explained *kept;

static void lack(enum explained_kind kind, const char *why)
{
    format_text(kept->absent[kind], sizeof kept->absent[kind], "%s", why);
}

static void open_explainer(struct explained *explained)
{
    const char *why = NULL;
    kept = explained;
    sites_open(explained);
    if (!faults_open(&why)) {
        lack(EXPLAINED_FAULT, why);
    }
}

static void let_go(void)
{
    sites_watch = false;
}

static void start(void)
{
    struct chain chain;
    const char *why = NULL;
    chain_of_callers(&chain); /* its first call loads a library */
    (void)pthread_atfork(NULL, NULL, let_go);
    if (!dispatch_open(&why)) {
        lack(EXPLAINED_SYSTEM, why);
        lack(EXPLAINED_LOCK, why);
    }
}

static void begin(int64_t step, enum explained_step which)
{
    sites_begin(step, which);
    dispatch_keep_signal();
    faults_begin();
    sites_watch = true;
    dispatch_begin();
}

static void end(int64_t counted[EXPLAINED_COLUMNS])
{
    dispatch_end();
    sites_watch = false;
    faults_end();
    sites_end(counted);
}

const struct step_explainer *step_explainer(void)
{
    static const struct step_explainer explainer = {open_explainer, start, begin, end};
    return &explainer;
}
