/* What is behind a mutex: a condition waits with it. */
#ifndef TAUTO_EVL_LOCK_H
#define TAUTO_EVL_LOCK_H

#include "os/os.h"

#include <evl/evl.h>

struct os_mutex {
    struct evl_mutex native;
};

/* Elements of EVL have names; this one no other has. */
void evl_element_name(char *name, size_t bytes);

#endif
