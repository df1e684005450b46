/* Sleeping until one of several files has something to say. */
#ifndef TAUTO_POSIX_WAIT_H
#define TAUTO_POSIX_WAIT_H

#include <poll.h>
#include <stdint.h>

/* Until then, or until the instant, or until this process was asked to stop (os_stop_requested). `revents` as poll(2)
 * has them; 0 where it did not come to that. */
void wait_for_files(struct pollfd *files, nfds_t count, int64_t instant_ns);

#endif
