/* The kernel-space half behind its device: kmod/tautochrone.h says what is spoken there. */
#include "os/kernel_half.h"

#include "status.h"

#include "tautochrone.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

_Static_assert((int)KERNEL_INTERRUPT == (int)TAUTOCHRONE_INTERRUPT && (int)KERNEL_PERIOD == (int)TAUTOCHRONE_PERIOD &&
                   (int)KERNEL_RESPONSE == (int)TAUTOCHRONE_RESPONSE,
               "measures");
_Static_assert((int)KERNEL_SEMAPHORE == (int)TAUTOCHRONE_SEMAPHORE &&
                   (int)KERNEL_COMPLETION == (int)TAUTOCHRONE_COMPLETION && (int)KERNEL_FIFO == (int)TAUTOCHRONE_FIFO &&
                   (int)KERNEL_MESSAGE == (int)TAUTOCHRONE_MESSAGE && (int)KERNEL_USER == (int)TAUTOCHRONE_USER,
               "mechanisms");
_Static_assert(sizeof(struct kernel_row) == sizeof(struct tautochrone_record), "rows");
_Static_assert((int)KERNEL_VERSION == TAUTOCHRONE_VERSION, "version");

struct os_kernel_half {
    int file;
};

static struct os_answer refused(int error)
{
    switch (error) {
    case EPERM:
    case EACCES:
        return (struct os_answer){OS_DENIED, "it takes CAP_SYS_ADMIN. Run it as root"};
    case EBUSY:
        return (struct os_answer){OS_ABSENT, "another program uses it, and it serves one at a time. Wait for its end"};
    default:
        return (struct os_answer){OS_ABSENT,
                                  "the module is not loaded (no " TAUTOCHRONE_DEVICE "). Build it with make -C kmod, "
                                  "which says where it is then, and load it with insmod"};
    }
}

struct os_answer os_kernel_half_open(struct os_kernel_half **half)
{
    struct os_kernel_half *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return (struct os_answer){OS_ABSENT, "out of memory"};
    }
    made->file = open(TAUTOCHRONE_DEVICE, O_RDWR | O_CLOEXEC);
    if (made->file < 0) {
        const struct os_answer answer = refused(errno);
        free(made);
        return answer;
    }
    *half = made;
    return (struct os_answer){OS_PRESENT, ""};
}

void os_kernel_half_close(struct os_kernel_half *half)
{
    if (half != NULL) {
        close(half->file);
        free(half);
    }
}

/* An ELF note: three words, a name of four bytes, and then the hash that the linker made. */
void os_kernel_half_build(char build[KERNEL_BUILD_BYTES])
{
    enum { BEFORE = 16, HASH = 20 };
    static const char digits[] = "0123456789abcdef";
    unsigned char note[BEFORE + HASH];
    const int file = open("/sys/module/tautochrone/notes/.note.gnu.build-id", O_RDONLY | O_CLOEXEC);
    const bool told = file >= 0 && read(file, note, sizeof note) == (ssize_t)sizeof note;
    if (file >= 0) {
        close(file);
    }
    for (size_t i = 0; i < HASH && told; i++) {
        build[2 * i] = digits[note[BEFORE + i] >> 4];
        build[2 * i + 1] = digits[note[BEFORE + i] & 15];
    }
    build[told ? 2 * HASH : 0] = '\0';
}

static enum os_status status_of(int error)
{
    switch (error) {
    case EPROTONOSUPPORT:
    case ENOTTY:
        return OS_UNSUPPORTED;
    case ERANGE:
        return OS_INVALID;
    case EPIPE:
        return OS_CLOSED;
    case EINTR:
        return OS_INTERRUPTED;
    default:
        return os_status_from_errno(error);
    }
}

static enum os_status request(const struct os_kernel_half *half, unsigned long command, void *argument)
{
    return ioctl(half->file, command, argument) < 0 ? status_of(errno) : OS_OK;
}

static struct os_thread_obtained obtained_of(const struct tautochrone_task *task)
{
    return (struct os_thread_obtained){
        .policy = task->policy == SCHED_FIFO ? OS_POLICY_FIFO : OS_POLICY_OTHER,
        .native_priority = task->priority,
        .cpu = task->cpu,
        .timer_slack_ns = INT64_MIN,
        .runtime_ns = INT64_MIN,
        .deadline_ns = INT64_MIN,
        .period_ns = INT64_MIN,
    };
}

enum os_status os_kernel_half_set_up(struct os_kernel_half *half, const struct kernel_setup *setup,
                                     struct os_thread_obtained obtained[2])
{
    struct tautochrone_setup wanted = {
        .version = TAUTOCHRONE_VERSION,
        .measure = (uint32_t)setup->measure,
        .mechanism = setup->measure == KERNEL_RESPONSE ? (uint32_t)setup->mechanism : 0,
        .flags = setup->soft ? TAUTOCHRONE_SOFT : 0,
        .period_ns = setup->period_ns,
        .count = setup->count,
        .warmup = setup->warmup,
        .rows = (uint32_t)setup->rows,
    };
    for (int i = 0; i < 2; i++) {
        wanted.tasks[i].cpu = setup->tasks[i].cpu;
        wanted.tasks[i].priority = (int32_t)os_priority_to_native(OS_POLICY_FIFO, setup->tasks[i].below_highest);
    }
    const enum os_status status = request(half, TAUTOCHRONE_SETUP, &wanted);
    for (int i = 0; i < 2 && status == OS_OK; i++) {
        obtained[i] = obtained_of(&wanted.tasks[i]);
    }
    return status;
}

enum os_status os_kernel_half_start(struct os_kernel_half *half)
{
    return request(half, TAUTOCHRONE_START, NULL);
}

enum os_status os_kernel_half_stop(struct os_kernel_half *half)
{
    return request(half, TAUTOCHRONE_STOP, NULL);
}

enum os_status os_kernel_half_read(struct os_kernel_half *half, struct kernel_row *rows, size_t most, size_t *count)
{
    const ssize_t bytes = read(half->file, rows, most * sizeof *rows);
    *count = bytes > 0 ? (size_t)bytes / sizeof *rows : 0;
    return bytes >= 0 || errno == EAGAIN || errno == EINTR ? OS_OK : status_of(errno);
}

enum os_status os_kernel_half_books(struct os_kernel_half *half, struct kernel_books *books)
{
    struct tautochrone_books told = {0};
    const enum os_status status = request(half, TAUTOCHRONE_BOOKS, &told);
    *books = (struct kernel_books){
        .released = told.released,
        .completed = told.completed,
        .missed = told.missed,
        .overruns = told.overruns,
        .warmup = told.warmup,
        .recorded = told.recorded,
        .dropped = told.dropped,
        .cpu_time_ns = told.cpu_time_ns,
        .ended = told.ended != 0,
    };
    return status;
}

enum os_status os_kernel_half_receive(struct os_kernel_half *half)
{
    int64_t number = 0;
    return request(half, TAUTOCHRONE_RECEIVE, &number);
}

enum os_status os_kernel_half_answer(struct os_kernel_half *half, int64_t received_ns)
{
    return request(half, TAUTOCHRONE_ANSWER, &received_ns);
}
