#define _GNU_SOURCE
#include "test/guest_lab.h"

#include "format.h"
#include "test/check.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPLY_AT = 4096, REQUEST_AT = BOX_BYTES / 2, LENGTH_AT = 8, REQUEST_LENGTH_AT = 12, FRAME_BYTES = 12 };
enum { PATIENCE_MS = 30000, ONE_PACKET = 4096 };
static const int64_t slice_ns = 200000000;
static const unsigned char zeros[4];

static uint32_t number_at(const unsigned char *place)
{
    uint32_t number;
    memcpy(&number, place, sizeof number);
    return number;
}

/* ---- The conversation ------------------------------------------------------ */

/* True: it calls; false: it has ended. */
static bool hear(struct lab *lab)
{
    struct pollfd gate = {.fd = lab->gate, .events = POLLIN};
    assert_int_equal(poll(&gate, 1, PATIENCE_MS), 1);
    if ((gate.revents & POLLIN) == 0) {
        return false;
    }
    assert_memory_equal(lab->mailbox, "TAUB\1\0\0\0", 8);
    lab->event_bytes = number_at(lab->mailbox + LENGTH_AT);
    lab->event_read = 0;
    assert_true(lab->event_bytes <= REQUEST_AT - REPLY_AT);
    return true;
}

static _Noreturn void be_the_guest(const char *program, const char *path, int gate, int errors)
{
    char number[16];
    format_text(number, sizeof number, "%d", gate);
    dup2(errors, STDERR_FILENO);
    execl(program, "tauto-agent", "guest", "--box", path, "--gate", number, (char *)NULL);
    _exit(127);
}

void lab_begin(struct lab *lab)
{
    char path[] = "/tmp/tauto-test-box-XXXXXX";
    int gate[2];
    int errors[2];
    *lab = (struct lab){0};
    const char *const program = getenv("TAUTO_AGENT");
    assert_non_null(program);
    const int file = mkostemp(path, O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, BOX_BYTES), 0);
    lab->mailbox = mmap(NULL, BOX_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_ptr_not_equal(lab->mailbox, MAP_FAILED);
    assert_int_equal(pipe2(gate, O_DIRECT), 0);
    assert_int_equal(pipe2(errors, O_CLOEXEC), 0);
    assert_true(fcntl(gate[1], F_SETPIPE_SZ, ONE_PACKET) > 0);
    lab->guest = fork();
    if (lab->guest == 0) {
        close(gate[0]);
        be_the_guest(program != NULL ? program : "", path, gate[1], errors[1]);
    }
    close(gate[1]);
    close(errors[1]);
    close(file);
    lab->gate = gate[0];
    lab->errors = errors[0];
    const bool called = hear(lab);
    unlink(path);
    assert_true(called);
}

bool lab_answer(struct lab *lab)
{
    char taken;
    const uint32_t length = (uint32_t)lab->request.length;
    assert_true(length <= BOX_BYTES - REQUEST_AT);
    memcpy(lab->mailbox + REQUEST_AT, text_string(&lab->request), length);
    memcpy(lab->mailbox + REQUEST_LENGTH_AT, &length, sizeof length);
    text_free(&lab->request);
    assert_int_equal(read(lab->gate, &taken, 1), 1);
    assert_int_equal(taken, 1);
    assert_int_equal(read(lab->gate, &taken, 1), 1);
    assert_int_equal(taken, 2);
    return hear(lab);
}

bool lab_run(struct lab *lab, int64_t most_ns)
{
    lab_command(lab, BOX_RUN, 0, &most_ns, sizeof most_ns);
    return lab_answer(lab);
}

static void end(struct lab *lab, bool is_well)
{
    int status = 0;
    assert_int_equal(waitpid(lab->guest, &status, 0), lab->guest);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), is_well ? 0 : 1);
    close(lab->gate);
    close(lab->errors);
    munmap(lab->mailbox, BOX_BYTES);
}

void lab_end(struct lab *lab)
{
    lab_command(lab, BOX_OFF, 0, NULL, 0);
    assert_false(lab_answer(lab));
    end(lab, true);
}

void lab_expect_fault(struct lab *lab, const char *words)
{
    char said[1024];
    const ssize_t got = read(lab->errors, said, sizeof said - 1);
    assert_true(got > 0);
    said[got] = '\0';
    assert_non_null(strstr(said, words));
    end(lab, false);
}

/* ---- Requests -------------------------------------------------------------- */

void lab_command(struct lab *lab, int kind, uint32_t program, const void *payload, size_t bytes)
{
    const uint32_t frame[] = {(uint32_t)kind, program, (uint32_t)bytes};
    text_add(&lab->request, frame, sizeof frame);
    if (bytes > 0) {
        text_add(&lab->request, payload, bytes);
    }
    text_add(&lab->request, zeros, (sizeof zeros - bytes % sizeof zeros) % sizeof zeros);
}

void lab_start(struct lab *lab, uint32_t program, const char *const *words, const char *const *variables)
{
    struct text payload = {0};
    uint32_t count = 0;
    while (words[count] != NULL) {
        count++;
    }
    text_add(&payload, &count, sizeof count);
    for (; *words != NULL; words++) {
        text_add(&payload, *words, strlen(*words) + 1);
    }
    for (; variables != NULL && *variables != NULL; variables++) {
        text_add(&payload, *variables, strlen(*variables) + 1);
    }
    lab_command(lab, BOX_START, program, payload.data, payload.length);
    text_free(&payload);
}

void lab_start_shell(struct lab *lab, uint32_t program, const char *script)
{
    lab_start(lab, program, (const char *const[]){"sh", "-c", script, NULL}, NULL);
}

/* ---- Events ---------------------------------------------------------------- */

bool lab_event(struct lab *lab, struct event *event)
{
    const unsigned char *const frame = lab->mailbox + REPLY_AT + lab->event_read;
    if (lab->event_read == lab->event_bytes) {
        return false;
    }
    *event = (struct event){
        .kind = (enum box_event)number_at(frame),
        .program = number_at(frame + 4),
        .payload = frame + FRAME_BYTES,
        .bytes = number_at(frame + 8),
    };
    lab->event_read += FRAME_BYTES + (event->bytes + sizeof zeros - 1) / sizeof zeros * sizeof zeros;
    assert_true(lab->event_read <= lab->event_bytes);
    return true;
}

void lab_wait(struct lab *lab, uint32_t program, struct outcome *outcome)
{
    *outcome = (struct outcome){0};
    for (;;) {
        struct event event;
        while (lab_event(lab, &event)) {
            if (event.program != program) {
                continue;
            }
            if (event.kind == BOX_EXIT) {
                assert_int_equal(event.bytes, sizeof outcome->code);
                memcpy(&outcome->code, event.payload, sizeof outcome->code);
                return;
            }
            assert_true(event.kind == BOX_OUTPUT || event.kind == BOX_ERROR);
            text_add(event.kind == BOX_OUTPUT ? &outcome->output : &outcome->errors, event.payload, event.bytes);
        }
        assert_true(lab_run(lab, slice_ns));
    }
}

void outcome_free(struct outcome *outcome)
{
    text_free(&outcome->output);
    text_free(&outcome->errors);
}
