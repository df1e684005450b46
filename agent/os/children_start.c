/* fork(2), execvp(3). */
#define _GNU_SOURCE
#include "child.h"

#include "os/posix/status.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SETS = 4, NOT_STARTED = 127 }; /* cpu_set_t alone ends at 1,024 CPUs */
enum pipe_end { PIPE_OUT, PIPE_IN };  /* as pipe(2) numbers them */
enum { TROUBLE = STDERR_FILENO + 1, PIPES };

static cpu_set_t first_cpus[SETS];
static bool knows_cpus;

void child_remember_cpus(void)
{
    knows_cpus = sched_getaffinity(0, sizeof first_cpus, first_cpus) == 0;
}

/* The ends in `pipes` are numbered as the child has them: its input, its output, its errors, and its trouble. */
static int end_of_child(int number)
{
    return number == STDIN_FILENO ? PIPE_OUT : PIPE_IN;
}

static void close_ends(int (*pipes)[2], bool of_child)
{
    for (int i = 0; i < PIPES; i++) {
        int *const file = &pipes[i][of_child ? end_of_child(i) : !end_of_child(i)];
        if (*file >= 0) {
            close(*file);
            *file = -1;
        }
    }
}

static bool open_pipes(int (*pipes)[2])
{
    for (int i = 0; i < PIPES; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) != 0) {
            return false;
        }
        if (i != TROUBLE && fcntl(pipes[i][!end_of_child(i)], F_SETFL, O_NONBLOCK) != 0) {
            return false;
        }
    }
    return true;
}

static _Noreturn void become_program(int (*pipes)[2], char *const *argv, char *const *environment)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    sigemptyset(&none);
    (void)sigaction(SIGPIPE, &usual, NULL);
    (void)sigaction(SIGCHLD, &usual, NULL);
    bool is_ready = setpgid(0, 0) == 0 && pthread_sigmask(SIG_SETMASK, &none, NULL) == 0;
    is_ready = is_ready && (!knows_cpus || sched_setaffinity(0, sizeof first_cpus, first_cpus) == 0);
    for (int i = STDIN_FILENO; i < TROUBLE && is_ready; i++) {
        is_ready = dup2(pipes[i][end_of_child(i)], i) == i;
    }
    if (is_ready) {
        environ = (char **)environment; /* execvp looks for PATH there */
        (void)execvp(argv[0], argv);
    }
    const int error = errno;
    (void)os_output_write((struct os_output){pipes[TROUBLE][PIPE_IN]}, &error, sizeof error);
    _exit(NOT_STARTED);
}

/* 0 when the child's end of `trouble` was closed by its becoming the program. */
static int wait_until_it_runs(int trouble)
{
    int error = 0;
    ssize_t got;
    do {
        got = read(trouble, &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof error ? error : 0;
}

enum os_status child_launch(struct os_child *child, char *const *argv, char *const *environment)
{
    int pipes[PIPES][2] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    int error = 0;
    if (!open_pipes(pipes)) {
        error = errno;
        close_ends(pipes, true);
        close_ends(pipes, false);
        return os_status_from_errno(error);
    }
    child->process = fork();
    if (child->process == 0) {
        become_program(pipes, argv, environment);
    }
    error = child->process < 0 ? errno : 0;
    close_ends(pipes, true);
    if (error == 0) {
        error = wait_until_it_runs(pipes[TROUBLE][PIPE_OUT]);
        if (error != 0) {
            (void)waitpid(child->process, NULL, 0);
        }
    }
    if (error != 0) {
        close_ends(pipes, false);
        return os_status_from_errno(error);
    }
    close(pipes[TROUBLE][PIPE_OUT]);
    child->input = pipes[STDIN_FILENO][PIPE_IN];
    child->streams[OS_CHILD_OUTPUT].file = pipes[STDOUT_FILENO][PIPE_OUT];
    child->streams[OS_CHILD_ERROR].file = pipes[STDERR_FILENO][PIPE_OUT];
    return OS_OK;
}
