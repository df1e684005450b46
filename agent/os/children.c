/* pipe2(2), ppoll(2), waitid(2). SIGCHLD is let in only while it sleeps, so that none is missed. */
#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000, FILES_PER_CHILD = OS_CHILD_STREAMS + 1 };

static struct os_child *children[MOST_CHILDREN];
static size_t child_count;
static sigset_t while_asleep;
static volatile sig_atomic_t somebody_ended;

static void on_child(int signal)
{
    (void)signal;
    somebody_ended = 1;
}

enum os_status os_children_begin(void)
{
    const struct sigaction note = {.sa_handler = on_child};
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    child_remember_cpus();
    return pthread_sigmask(SIG_BLOCK, &child, &while_asleep) == 0 && sigdelset(&while_asleep, SIGCHLD) == 0 &&
                   sigaction(SIGCHLD, &note, NULL) == 0 && sigaction(SIGPIPE, &ignore, NULL) == 0
               ? OS_OK
               : OS_FAILED;
}

/* ---- One child ------------------------------------------------------------- */

static void close_if_open(int *file)
{
    if (*file >= 0) {
        close(*file);
        *file = -1;
    }
}

enum os_status os_child_start(struct os_child **child, char *const *argv, char *const *environment)
{
    if (child_count == MOST_CHILDREN) {
        return OS_NO_MEMORY;
    }
    struct os_child *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    const enum os_status status = child_launch(made, argv, environment);
    if (status != OS_OK) {
        free(made);
        return status;
    }
    children[child_count++] = made;
    *child = made;
    return OS_OK;
}

size_t os_child_read(struct os_child *child, enum os_child_stream stream, void *data, size_t bytes)
{
    struct child_stream *const from = &child->streams[stream];
    if (from->file < 0 || !from->is_ready) {
        return 0;
    }
    if (child->has_ended && bytes > from->left) {
        bytes = from->left;
    }
    const ssize_t got = read(from->file, data, bytes);
    if (got > 0 && child->has_ended) {
        from->left -= (size_t)got;
    }
    from->is_ready = got > 0 && child->has_ended; /* of others, the next look tells */
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR) || (child->has_ended && from->left == 0)) {
        close_if_open(&from->file);
    }
    return got > 0 ? (size_t)got : 0;
}

size_t os_child_write(struct os_child *child, const void *data, size_t bytes)
{
    if (child->input < 0) {
        return bytes;
    }
    const ssize_t written = write(child->input, data, bytes);
    if (written < 0 && errno != EAGAIN && errno != EINTR) {
        close_if_open(&child->input);
        return bytes;
    }
    const size_t taken = written > 0 ? (size_t)written : 0;
    child->wants_room = taken < bytes;
    return taken;
}

void os_child_close_input(struct os_child *child)
{
    close_if_open(&child->input);
}

enum os_status os_child_signal(const struct os_child *child, int64_t signal)
{
    if (signal < 1 || signal > SIGRTMAX) {
        return OS_INVALID;
    }
    if (!child->has_ended) { /* afterwards its group may be another's */
        (void)kill(-child->process, (int)signal);
    }
    return OS_OK;
}

bool os_child_has_ended(const struct os_child *child, int32_t *code)
{
    *code = child->code;
    return child->has_ended && child->streams[OS_CHILD_OUTPUT].file < 0 && child->streams[OS_CHILD_ERROR].file < 0;
}

void os_child_free(struct os_child *child)
{
    for (size_t i = 0; i < child_count; i++) {
        if (children[i] == child) {
            children[i] = children[--child_count];
        }
    }
    close_if_open(&child->input);
    free(child);
}

/* ---- All of them ----------------------------------------------------------- */

/* What it had written before it ended is in its pipes now. Others that hold these open may write on; that is not read. */
static void note_end(struct os_child *child, int status)
{
    child->has_ended = true;
    child->code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    close_if_open(&child->input);
    for (size_t i = 0; i < OS_CHILD_STREAMS; i++) {
        struct child_stream *const stream = &child->streams[i];
        int left = 0;
        if (stream->file >= 0 && ioctl(stream->file, FIONREAD, &left) == 0 && left > 0) {
            stream->left = (size_t)left;
            stream->is_ready = true;
        } else {
            close_if_open(&stream->file);
        }
    }
}

static struct os_child *child_of(pid_t process)
{
    for (size_t i = 0; i < child_count; i++) {
        if (children[i]->process == process && !children[i]->has_ended) {
            return children[i];
        }
    }
    return NULL;
}

/* As long as it was not waited for, its number and its group are its own. */
static void reap(void)
{
    somebody_ended = 0;
    for (;;) {
        siginfo_t ended = {0};
        int status = 0;
        if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) {
            return;
        }
        struct os_child *const child = child_of(ended.si_pid);
        if (child != NULL) {
            (void)kill(-child->process, SIGKILL);
        }
        if (waitpid(ended.si_pid, &status, 0) == ended.si_pid && child != NULL) {
            note_end(child, status);
        }
    }
}

static void list_files(const struct os_child *child, struct pollfd *files)
{
    for (size_t i = 0; i < OS_CHILD_STREAMS; i++) {
        files[i] = (struct pollfd){.fd = child->streams[i].file, .events = POLLIN};
    }
    files[OS_CHILD_STREAMS] = (struct pollfd){.fd = child->wants_room ? child->input : -1, .events = POLLOUT};
}

/* Returns how many of the first `count` files have something. */
static int sleep_on(struct pollfd *files, nfds_t count, int64_t instant_ns)
{
    const int64_t now_ns = os_now_ns();
    const int64_t left_ns = instant_ns > now_ns ? instant_ns - now_ns : 0;
    const struct timespec left = {.tv_sec = (time_t)(left_ns / NS_PER_S), .tv_nsec = (long)(left_ns % NS_PER_S)};
    return ppoll(files, count, &left, &while_asleep);
}

void os_children_wait(int64_t instant_ns)
{
    static struct pollfd files[MOST_CHILDREN * FILES_PER_CHILD];
    for (size_t i = 0; i < child_count; i++) {
        list_files(children[i], &files[i * FILES_PER_CHILD]);
    }
    if (sleep_on(files, child_count * FILES_PER_CHILD, instant_ns) > 0) {
        for (size_t i = 0; i < child_count; i++) {
            for (size_t stream = 0; stream < OS_CHILD_STREAMS; stream++) {
                children[i]->streams[stream].is_ready |= files[i * FILES_PER_CHILD + stream].revents != 0;
            }
        }
    }
    if (somebody_ended) {
        reap();
    }
}

void os_children_gather(int64_t instant_ns)
{
    (void)sleep_on(NULL, 0, instant_ns);
    os_children_wait(0);
}
