/* Streams of bytes: fifo(7) and pipe(7). */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "channel_kinds.h"

#include "format.h"
#include "linux.h"
#include "status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum os_status send_bytes(struct os_channel *channel)
{
    const int out = ((struct channel_ends *)channel)->out;
    size_t done = 0;
    do {
        const ssize_t written = write(out, channel->outgoing + done, channel->message_bytes - done);
        if (written >= 0) {
            done += (size_t)written;
        } else if (errno != EINTR || done == 0) {
            return channel_failure(errno);
        }
    } while (done < channel->message_bytes);
    return OS_OK;
}

static enum os_status receive_bytes(struct os_channel *channel)
{
    const int in = ((struct channel_ends *)channel)->in;
    size_t done = 0;
    do {
        const ssize_t got = read(in, channel->incoming + done, channel->message_bytes - done);
        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0) {
            return OS_FAILED;
        } else if (errno != EINTR || done == 0) {
            return channel_failure(errno);
        }
    } while (done < channel->message_bytes);
    return OS_OK;
}

/* Two messages fit, so that no sender waits for room. */
static enum os_status make_room(int end, size_t message_bytes, const char **why)
{
    static const char too_small[] = "a pipe of this user does not hold two messages of this size";
#ifdef F_SETPIPE_SZ
    const int holds = fcntl(end, F_GETPIPE_SZ);
    if (holds >= 0 && (size_t)holds < 2 * message_bytes && fcntl(end, F_SETPIPE_SZ, (int)(2 * message_bytes)) < 0) {
        *why = too_small;
        return OS_INVALID;
    }
#else
    (void)end;
    if (message_bytes > PIPE_BUF) {
        *why = too_small;
        return OS_INVALID;
    }
#endif
    return OS_OK;
}

static size_t most_bytes(const char **how_to_raise)
{
#ifdef F_SETPIPE_SZ
    *how_to_raise = "Raise it with: sysctl fs.pipe-max-size.";
    return channel_read_limit("/proc/sys/fs/pipe-max-size", 65536) / 2;
#else
    *how_to_raise = "It is fixed: PIPE_BUF.";
    return PIPE_BUF;
#endif
}

static enum os_status begin(struct channel_ends *ends, const char **why)
{
    ends->base.send = send_bytes;
    ends->base.receive = receive_bytes;
    return make_room(ends->out, ends->base.message_bytes, why);
}

static enum os_status open_pipe(struct os_channel *channel, const char **why)
{
    struct channel_ends *const ends = (struct channel_ends *)channel;
    int both[2];
    ends->in = ends->out = -1;
    if (pipe(both) != 0) {
        return os_status_from_errno(errno);
    }
    ends->in = both[0];
    ends->out = both[1];
    return begin(ends, why);
}

static const char folder_begins[] = "tautochrone-fifo-"; /* then its maker's number */

/* Opened without waiting for the other end, then made to block. */
static enum os_status open_both_ends(struct channel_ends *ends, const char *path)
{
    ends->in = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (ends->in >= 0) {
        ends->out = open(path, O_WRONLY | O_CLOEXEC);
    }
    if (ends->out < 0 || fcntl(ends->in, F_SETFL, 0) != 0) {
        return os_status_from_errno(errno);
    }
    return OS_OK;
}

/* Never through a symbolic link, and never somebody else's: that may be a trap for root. */
static void remove_left_over(const char *path)
{
    struct stat about;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) {
        return;
    }
    if (fstat(folder, &about) == 0 && about.st_uid == geteuid()) {
        unlinkat(folder, "fifo", 0);
        rmdir(path);
    }
    close(folder);
}

/* Who is killed between making the two names and removing them leaves them behind: the next process takes those away
 * whose maker is no more. */
static void remove_left_overs(const char *parent)
{
    DIR *const names = opendir(parent);
    const size_t begin = sizeof folder_begins - 1;
    for (const struct dirent *entry = NULL; names != NULL && (entry = readdir(names)) != NULL;) {
        const bool ours = strncmp(entry->d_name, folder_begins, begin) == 0;
        const int64_t maker = ours ? linux_number(entry->d_name + begin, NULL) : 0;
        if (maker > 0 && kill((pid_t)maker, 0) != 0 && errno == ESRCH) {
            char path[PATH_MAX];
            format_text(path, sizeof path, "%s/%s", parent, entry->d_name);
            remove_left_over(path);
        }
    }
    if (names != NULL) {
        closedir(names);
    }
}

static enum os_status make_fifo_in(struct channel_ends *ends, const char *parent)
{
    static atomic_flag cleaned = ATOMIC_FLAG_INIT;
    char folder[PATH_MAX];
    char path[PATH_MAX];
    if (format_text(folder, sizeof folder, "%s/%s%ld-XXXXXX", parent, folder_begins, (long)getpid()) + 8 > sizeof path) {
        return OS_INVALID;
    }
    if (!atomic_flag_test_and_set(&cleaned)) {
        remove_left_overs(parent);
    }
    if (mkdtemp(folder) == NULL) {
        return os_status_from_errno(errno);
    }
    format_text(path, sizeof path, "%s/fifo", folder);
    enum os_status status = OS_OK;
    if (mkfifo(path, 0600) != 0) {
        status = os_status_from_errno(errno);
    } else {
        status = open_both_ends(ends, path);
        unlink(path);
    }
    rmdir(folder);
    return status;
}

static enum os_status open_fifo(struct os_channel *channel, const char **why)
{
    struct channel_ends *const ends = (struct channel_ends *)channel;
    const char *const wanted = secure_getenv("TMPDIR");
    const char *const parents[] = {wanted != NULL && wanted[0] != '\0' ? wanted : "/tmp", "/tmp", "/dev/shm", "."};
    ends->in = ends->out = -1;
    enum os_status status = OS_FAILED;
    for (size_t i = 0; i < sizeof parents / sizeof parents[0] && status != OS_OK; i++) {
        channel_ends_close(channel);
        ends->in = ends->out = -1;
        status = make_fifo_in(ends, parents[i]);
    }
    if (status != OS_OK) {
        *why = "no folder for temporary files takes a FIFO (TMPDIR, /tmp, /dev/shm)";
        return status;
    }
    return begin(ends, why);
}

const struct os_channel_kind channel_fifo = {
    .name = "fifo",
    .what = "named FIFO: write and read",
    .size = sizeof(struct channel_ends),
    .open = open_fifo,
    .close = channel_ends_close,
    .most_bytes = most_bytes,
};
const struct os_channel_kind channel_pipe = {
    .name = "pipe",
    .what = "pipe: write and read",
    .size = sizeof(struct channel_ends),
    .open = open_pipe,
    .close = channel_ends_close,
    .most_bytes = most_bytes,
};
