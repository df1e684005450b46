/* On a condition variable, which every POSIX system has. */
#include "barrier_bed.h"

#include "status.h"

#include <pthread.h>
#include <stdlib.h>

struct barrier_bed {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
};

enum os_status barrier_bed_make(struct barrier_bed **bed)
{
    struct barrier_bed *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    int error = pthread_mutex_init(&made->mutex, NULL);
    if (error == 0) {
        error = pthread_cond_init(&made->changed, NULL);
        if (error != 0) {
            pthread_mutex_destroy(&made->mutex);
        }
    }
    if (error != 0) {
        free(made);
        return os_status_from_errno(error);
    }
    *bed = made;
    return OS_OK;
}

void barrier_bed_unmake(struct barrier_bed *bed)
{
    if (bed != NULL) {
        pthread_cond_destroy(&bed->changed);
        pthread_mutex_destroy(&bed->mutex);
        free(bed);
    }
}

void barrier_bed_sleep(struct barrier_bed *bed, atomic_uint *round, unsigned seen)
{
    pthread_mutex_lock(&bed->mutex);
    while (atomic_load(round) == seen) {
        pthread_cond_wait(&bed->changed, &bed->mutex);
    }
    pthread_mutex_unlock(&bed->mutex);
}

void barrier_bed_wake(struct barrier_bed *bed, atomic_uint *round)
{
    (void)round;
    pthread_mutex_lock(&bed->mutex); /* nobody is between the look and the sleep */
    pthread_cond_broadcast(&bed->changed);
    pthread_mutex_unlock(&bed->mutex);
}
