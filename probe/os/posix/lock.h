/* What the locks' own files share. */
#ifndef TAUTO_POSIX_LOCK_H
#define TAUTO_POSIX_LOCK_H

#include <pthread.h>

struct os_mutex {
    pthread_mutex_t native;
};

#endif
