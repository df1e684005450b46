/* execve(2) of the shell, memfd_create(2). */
#define _GNU_SOURCE
#include "program.h"

#include "format.h"
#include "os/posix/linux.h"
#include "os/posix/status.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEPT_FILE = STDERR_FILENO + 1, PATH_BYTES = 64 };

/* Away from the terminal, with no file of ours but that one. */
static void part(int file)
{
    (void)setsid();
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO); /* standard output may be the stream */
    if (file < 0) {
        (void)close(KEPT_FILE);
    } else if (file == KEPT_FILE) {
        (void)fcntl(file, F_SETFD, 0);
    } else {
        (void)dup2(file, KEPT_FILE);
    }
    step_child_close_from(KEPT_FILE + 1);
    step_child_reset_signals(true);
    os_memory_end_first();
}

static enum os_status take_place(const struct step_program *program)
{
    struct os_thread_attributes attributes = program->attributes;
    if (!program->is_ranked) {
        attributes.policy = OS_POLICY_OTHER;
    }
    return os_thread_adopt(&attributes);
}

/* What the file of our own program has of rights ends with the exec: the program has those of its user. */
void step_program_live(void *argument)
{
    struct step_program *const program = argument;
    part(program->file);
    program->status = take_place(program);
    if (program->status != OS_OK) {
        return;
    }
    char path[PATH_BYTES];
    const size_t bytes = strlen(program->command) + sizeof "exec ";
    char *const words = malloc(bytes);
    /* By the number of the process: whoever it starts can open the path as well. */
    format_text(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), KEPT_FILE);
    if (words == NULL || (program->variable != NULL && setenv(program->variable, path, 1) != 0)) {
        program->status = OS_NO_MEMORY;
        free(words);
        return;
    }
    format_text(words, bytes, "exec %s", program->command);
    (void)execl("/bin/sh", "sh", "-c", words, (char *)NULL);
    program->status = os_status_from_errno(errno);
    free(words);
}

void step_program_ask_to_end(const struct step_child *child)
{
    if (child->number != 0) {
        (void)kill((pid_t)child->number, SIGTERM);
    }
}

enum os_status step_memory_for_program(void **memory, size_t bytes, int *file)
{
    *file = memfd_create("tautochrone-loop", MFD_CLOEXEC);
    if (*file < 0 || ftruncate(*file, (off_t)bytes) != 0) {
        return os_status_from_errno(errno);
    }
    void *const mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, *file, 0);
    if (mapped == MAP_FAILED) {
        return os_status_from_errno(errno);
    }
    *memory = mapped;
    return OS_OK;
}
