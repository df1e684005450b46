#define _GNU_SOURCE /* struct ucred */

#include "os/claim.h"

#include "os/dialogue.h"
#include "os/posix/status.h"
#include "os/posix/wait.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { WAITING_AT_MOST = 4096 }; /* those that gave up count, too: nobody takes them out of the queue */

/* An abstract name (unix(7)): it is in no folder, so any user can have it, and nothing is left of it after a crash. */
static socklen_t address_of(struct sockaddr_un *address, const char *name)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    const size_t room = sizeof address->sun_path - 1;
    const size_t length = strnlen(name, room);
    memcpy(address->sun_path + 1, name, length);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

static enum os_status failed(struct os_claim *claim)
{
    const enum os_status status = os_status_from_errno(errno);
    os_claim_release(claim);
    return status;
}

/* Nobody ever accepts the connection; it ends with whoever has the claim, which wakes us without any polling. */
static enum os_status watch_holder(struct os_claim *claim, const struct sockaddr_un *address, socklen_t length)
{
    claim->file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (claim->file < 0) {
        return failed(claim);
    }
    if (connect(claim->file, (const struct sockaddr *)address, length) != 0) {
        const bool full = errno == EAGAIN;
        if (!full && errno != ECONNREFUSED) {
            return failed(claim);
        }
        os_claim_release(claim); /* it has just ended, or many wait already: who waits then looks again */
        return OS_IN_USE;
    }
    struct ucred holder = {.pid = 0};
    socklen_t size = sizeof holder;
    if (getsockopt(claim->file, SOL_SOCKET, SO_PEERCRED, &holder, &size) == 0) {
        claim->holder_pid = holder.pid;
        claim->holder_uid = (long)holder.uid;
    }
    return OS_IN_USE;
}

enum os_status os_claim_take(struct os_claim *claim, const char *name)
{
    struct sockaddr_un address;
    const socklen_t length = address_of(&address, name);
    *claim = (struct os_claim){.file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (claim->file < 0) {
        return failed(claim);
    }
    if (bind(claim->file, (const struct sockaddr *)&address, length) == 0) {
        return listen(claim->file, WAITING_AT_MOST) == 0 ? OS_OK : failed(claim);
    }
    if (errno != EADDRINUSE) {
        return failed(claim);
    }
    os_claim_release(claim);
    return watch_holder(claim, &address, length);
}

bool os_claim_wait(const struct os_claim *claim, int64_t instant_ns)
{
    struct pollfd files[] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = claim->file, .events = 0}, /* its end alone: POLLHUP, which one's own never has */
    };
    do {
        wait_for_files(files, sizeof files / sizeof files[0], instant_ns);
        char said[64];
        size_t got = 0;
        if (files[0].revents != 0 && os_dialogue_read(said, sizeof said, &got) == OS_INPUT_ENDED) {
            return false;
        }
    } while (files[0].revents != 0 && files[1].revents == 0 && os_stop_requested() == OS_STOP_NONE);
    return os_stop_requested() == OS_STOP_NONE;
}

void os_claim_release(struct os_claim *claim)
{
    if (claim->file >= 0) {
        close(claim->file);
    }
    claim->file = -1;
}
