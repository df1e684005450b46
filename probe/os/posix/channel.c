/* What channels of POSIX share: reasons of a failure, ends, limits. */
#include "channel_kinds.h"

#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum os_status channel_failure(int error)
{
    switch (error) {
    case EMSGSIZE:
        return OS_INVALID;
    case EAGAIN: /* the receive time-out of a socket */
        return OS_TIMED_OUT;
    default:
        return os_status_from_errno(error);
    }
}

void channel_ends_close(struct os_channel *channel)
{
    struct channel_ends *const ends = (struct channel_ends *)channel;
    if (ends->in >= 0) {
        close(ends->in);
    }
    if (ends->out >= 0 && ends->out != ends->in) {
        close(ends->out);
    }
}

size_t channel_read_limit(const char *path, size_t otherwise)
{
    char text[32];
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return otherwise;
    }
    const ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    size_t value = 0;
    ssize_t at = 0;
    for (; at < got && text[at] >= '0' && text[at] <= '9'; at++) {
        value = value * 10 + (size_t)(text[at] - '0');
    }
    return at > 0 ? value : otherwise;
}
