#include "os/dialogue.h"

#include "os/posix/status.h"
#include "os/posix/wait.h"

#include <errno.h>
#include <limits.h>
#include <sys/socket.h>
#include <unistd.h>

enum os_input os_dialogue_read(void *data, size_t bytes, size_t *got)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    *got = 0;
    if (poll(&input, 1, 0) <= 0) {
        return OS_INPUT_NONE;
    }
    if ((input.revents & POLLNVAL) != 0) {
        return OS_INPUT_ENDED;
    }
    const ssize_t had = read(STDIN_FILENO, data, bytes);
    if (had < 0) {
        return errno == EINTR || errno == EAGAIN ? OS_INPUT_NONE : OS_INPUT_ENDED;
    }
    *got = (size_t)had;
    return had > 0 ? OS_INPUT_SOME : OS_INPUT_ENDED;
}

void os_dialogue_wait(int64_t instant_ns)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    wait_for_files(&input, 1, instant_ns);
}

/* sshd gives its children sockets or pipes. A pipe that poll(2) calls writable takes PIPE_BUF bytes without waiting;
 * O_NONBLOCK would be for all who have it. */
static ssize_t write_piece(const void *data, size_t bytes)
{
    const ssize_t sent = send(STDOUT_FILENO, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0 || errno != ENOTSOCK) {
        return sent;
    }
    return write(STDOUT_FILENO, data, bytes < PIPE_BUF ? bytes : PIPE_BUF);
}

enum os_status os_dialogue_write(const void *data, size_t bytes, int64_t instant_ns)
{
    const char *at = data;
    while (bytes > 0) {
        struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
        wait_for_files(&output, 1, instant_ns);
        if (output.revents == 0) {
            if (os_stop_requested() != OS_STOP_NONE) {
                return OS_INTERRUPTED;
            }
            if (os_now_ns() >= instant_ns) {
                return OS_TIMED_OUT;
            }
            continue;
        }
        const ssize_t written = write_piece(at, bytes);
        if (written < 0 && errno != EINTR && errno != EAGAIN) {
            return errno == EPIPE ? OS_CLOSED : os_status_from_errno(errno);
        }
        at += written > 0 ? written : 0;
        bytes -= written > 0 ? (size_t)written : 0;
    }
    return OS_OK;
}
