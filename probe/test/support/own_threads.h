/* For stand-ins, behind hold.h: each thread that pthread_create() makes can be suspended. */
#ifndef STAND_IN_OWN_THREADS_H
#define STAND_IN_OWN_THREADS_H

#include <dlfcn.h>
#include <stdlib.h>

struct own_start {
    void *(*start)(void *);
    void *argument;
};

static void *own_begin(void *begun)
{
    const struct own_start own = *(struct own_start *)begun;
    free(begun);
    hold_begin();
    void *const result = own.start(own.argument);
    hold_end();
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    typedef int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static _Atomic(void *) next;
    void *real = atomic_load(&next);
    if (real == NULL) {
        real = dlsym(RTLD_NEXT, "pthread_create");
        atomic_store(&next, real);
    }
    struct own_start *const own = malloc(sizeof *own);
    *own = (struct own_start){start, argument};
    const int error = ((create)real)(thread, attributes, own_begin, own);
    if (error != 0) {
        free(own);
    }
    return error;
}

#endif
