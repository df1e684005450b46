/* Condition variables: pthread_cond_init(3). */
#include "lock.h"
#include "status.h"

#include <stdlib.h>

struct os_condition {
    pthread_cond_t native;
};

enum os_status os_condition_create(struct os_condition **condition)
{
    struct os_condition *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    const int error = pthread_cond_init(&made->native, NULL);
    if (error != 0) {
        free(made);
        return os_status_from_errno(error);
    }
    *condition = made;
    return OS_OK;
}

void os_condition_destroy(struct os_condition *condition)
{
    if (condition != NULL) {
        pthread_cond_destroy(&condition->native);
        free(condition);
    }
}

enum os_status os_condition_wait(struct os_condition *condition, struct os_mutex *mutex)
{
    return os_status_from_errno(pthread_cond_wait(&condition->native, &mutex->native));
}

enum os_status os_condition_signal(struct os_condition *condition)
{
    return os_status_from_errno(pthread_cond_signal(&condition->native));
}
