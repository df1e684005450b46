/* Other programs: fork(2), execvp(3), and a warden between (process_warden.h). */
#define _GNU_SOURCE
#include "os/process.h"

#include "process_warden.h"
#include "status.h"
#include "wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000, NS_PER_US = 1000, KILLED_EXIT_CODE = 128 + SIGKILL };

struct os_process {
    pid_t warden;
    int control;
    int status;
    int input; /* -1: closed, or never there */
    bool has_ended;
    int exit_code;
};

enum pipe_end { PIPE_OUT, PIPE_IN }; /* as pipe(2) numbers them */

/* The starter's and the warden's pipes; -1 where there is none. */
struct pipes {
    int control[2];
    int status[2];
    int trouble[2];
    int input[2];
};

static void close_if_open(int *file)
{
    if (*file >= 0) {
        close(*file);
        *file = -1;
    }
}

static void close_side(struct pipes *pipes, bool warden)
{
    close_if_open(&pipes->control[warden ? PIPE_OUT : PIPE_IN]);
    close_if_open(&pipes->status[warden ? PIPE_IN : PIPE_OUT]);
    close_if_open(&pipes->trouble[warden ? PIPE_IN : PIPE_OUT]);
    close_if_open(&pipes->input[warden ? PIPE_OUT : PIPE_IN]);
}

static enum os_status open_pipes(struct pipes *pipes, bool has_input)
{
    *pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    if (pipe2(pipes->control, O_CLOEXEC) != 0 || pipe2(pipes->status, O_CLOEXEC) != 0 ||
        pipe2(pipes->trouble, O_CLOEXEC) != 0 || (has_input && pipe2(pipes->input, O_CLOEXEC) != 0)) {
        const int error = errno;
        close_side(pipes, true);
        close_side(pipes, false);
        return os_status_from_errno(error);
    }
    return OS_OK;
}

/* No signal may find the warden before it is ready for it. */
static pid_t fork_warden(const struct os_process_attributes *attributes, const struct pipes *pipes)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t warden = fork();
    if (warden == 0) {
        const struct warden parts = {
            .attributes = attributes,
            .control = pipes->control[PIPE_OUT],
            .status = pipes->status[PIPE_IN],
            .trouble = pipes->trouble[PIPE_IN],
            .input = pipes->input[PIPE_OUT],
        };
        warden_run(&parts);
    }
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return warden;
}

static void wait_for(pid_t child)
{
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}

static ssize_t read_again(int file, void *data, size_t bytes)
{
    ssize_t got;
    do {
        got = read(file, data, bytes);
    } while (got < 0 && errno == EINTR);
    return got;
}

/* The warden says what went wrong, or closes its end of `trouble` when the program runs. */
static enum os_status start_warden(struct os_process *process, const struct os_process_attributes *attributes,
                                   struct pipes *pipes, struct warden_trouble *trouble)
{
    process->warden = fork_warden(attributes, pipes);
    const int error = errno;
    close_side(pipes, true);
    if (process->warden < 0) {
        return os_status_from_errno(error);
    }
    const bool troubled = read_again(pipes->trouble[PIPE_OUT], trouble, sizeof *trouble) == (ssize_t)sizeof *trouble;
    close_if_open(&pipes->trouble[PIPE_OUT]);
    if (troubled) {
        close_if_open(&pipes->control[PIPE_IN]); /* then it ends */
        wait_for(process->warden);
        return os_status_from_errno(trouble->error);
    }
    return OS_OK;
}

enum os_status os_process_start(struct os_process **process, const struct os_process_attributes *attributes)
{
    struct os_process *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    struct pipes pipes;
    struct warden_trouble trouble = {.failed_join = attributes->join_count};
    enum os_status status = open_pipes(&pipes, attributes->has_input);
    if (status == OS_OK) {
        status = start_warden(made, attributes, &pipes, &trouble);
    }
    if (attributes->failed_join != NULL) {
        *attributes->failed_join = trouble.failed_join;
    }
    if (status != OS_OK) {
        close_side(&pipes, false);
        free(made);
        return status;
    }
    made->control = pipes.control[PIPE_IN];
    made->status = pipes.status[PIPE_OUT];
    made->input = pipes.input[PIPE_IN];
    *process = made;
    return OS_OK;
}

enum os_status os_process_write(struct os_process *process, const void *data, size_t bytes)
{
    const struct os_output input = {process->input};
    return process->input < 0 ? OS_INVALID : os_output_write(input, data, bytes);
}

void os_process_close_input(struct os_process *process)
{
    close_if_open(&process->input);
}

/* The warden reads orders as long as it lives, so that this does not block; where it was killed, the kernel has killed
 * the program, and nobody is left to read. */
void os_process_signal(struct os_process *process, enum os_process_signal signal)
{
    const char order = signal == OS_PROCESS_END ? WARDEN_END : WARDEN_KILL;
    (void)os_output_write((struct os_output){process->control}, &order, 1);
}

bool os_process_has_ended(struct os_process *process, int *exit_code)
{
    struct pollfd status = {.fd = process->status, .events = POLLIN};
    if (!process->has_ended && poll(&status, 1, 0) > 0) {
        process->has_ended = true;
        if (read_again(process->status, &process->exit_code, sizeof process->exit_code) !=
            (ssize_t)sizeof process->exit_code) {
            process->exit_code = KILLED_EXIT_CODE; /* somebody killed the warden, and so the program too */
        }
    }
    *exit_code = process->exit_code;
    return process->has_ended;
}

void os_process_wait(const struct os_process *process, bool input, int64_t instant_ns)
{
    struct pollfd files[] = {
        {.fd = process->has_ended ? -1 : process->status, .events = POLLIN},
        {.fd = input ? STDIN_FILENO : -1, .events = POLLIN},
    };
    wait_for_files(files, 2, instant_ns);
}

void os_process_free(struct os_process *process)
{
    close_if_open(&process->input);
    close_if_open(&process->control); /* its order to end all */
    (void)kill(process->warden, SIGCONT);
    wait_for(process->warden);
    close_if_open(&process->status);
    free(process);
}

int64_t os_children_cpu_time_ns(void)
{
    struct rusage used;
    if (getrusage(RUSAGE_CHILDREN, &used) != 0) {
        return INT64_MIN;
    }
    const int64_t seconds = (int64_t)used.ru_utime.tv_sec + (int64_t)used.ru_stime.tv_sec;
    const int64_t microseconds = (int64_t)used.ru_utime.tv_usec + (int64_t)used.ru_stime.tv_usec;
    return seconds * NS_PER_S + microseconds * NS_PER_US;
}
