/*
 * In C each of them would be
 *
 *     if (!is_in_table(process of the current thread)) return;
 *     for (loop = loops; loop->thread != thread; loop++) if (loop->thread == 0 && set(&loop->thread, thread)) break;
 *     at the begin: loop->begin = now(); loop->release = loop->asked; loop->k++; loop->open = 1;
 *     at the end:   rows[loop->written & mask] = {k, release, begin, now()}; loop->written++; loop->open = 0;
 *
 * A loop belongs to one thread, so that nothing of it is written at the same time.
 */
#include "outside_program.h"

#define TAUTOCHRONE_LOOP_LAYOUT_ALONE
#include "tautochrone_loop.h"

#include <string.h>
#include <time.h>

/* Registers: 6 to 9 stay over calls. */
enum { RESULT = 0, FIRST = 1, SECOND = 2, THIRD = 3, FOURTH = 4, NOW = 6, LOOP = 7, THREAD = 8, GIVEN = 9, STACK = 10 };
enum { WORD = 8, HALF = 32, NAME_AT = -16, VALUE_AT = -8, PROCESS_AT = -24 };

#define PUT(...) put(out, (struct bpf_instruction){__VA_ARGS__})
#define LOOP_AT(member) ((int16_t)offsetof(struct tautochrone_loop, member))
#define OWN_AT(which) ((int16_t)(LOOP_AT(unused_by_loop) + (which)*WORD))
#define SLEEPS_AT LOOP_AT(unused) /* 1 from the begin of a sleep to its end */
#define ROW_AT(member) ((int16_t)offsetof(struct tautochrone_row, member))

static void put(struct outside_writing *out, struct bpf_instruction instruction)
{
    if (out->count < OUTSIDE_CODE_LIMIT) {
        out->code[out->count++] = instruction;
    }
}

/* What was left open at `from` skips all that came since. */
static void close_skip(struct outside_writing *out, size_t from)
{
    out->code[from].offset = (int16_t)(out->count - from - 1);
}

static void put_exit_if(struct outside_writing *out, enum bpf_code condition, uint8_t reg, uint8_t other, int32_t immediate)
{
    out->exits[out->exit_count++] = out->count;
    PUT(.code = (uint8_t)condition, .to = reg, .from = other, .immediate = immediate);
}

static void put_end(struct outside_writing *out)
{
    for (size_t i = 0; i < out->exit_count; i++) {
        close_skip(out, out->exits[i]);
    }
    PUT(.code = SET, .to = RESULT, .immediate = 0);
    PUT(.code = END);
}

/* The address of a byte of the memory. */
static void put_address(struct outside_writing *out, uint8_t to, size_t offset)
{
    PUT(.code = LOAD_CONSTANT_8, .to = to, .from = BPF_PSEUDO_MAP_VALUE, .immediate = out->map);
    PUT(.immediate = (int32_t)offset);
}

static void put_constant(struct outside_writing *out, uint8_t to, uint64_t constant)
{
    PUT(.code = LOAD_CONSTANT_8, .to = to, .immediate = (int32_t)(uint32_t)constant);
    PUT(.immediate = (int32_t)(uint32_t)(constant >> HALF));
}

static void put_copy(struct outside_writing *out, uint8_t to, int16_t to_offset, uint8_t from, int16_t from_offset)
{
    PUT(.code = LOAD_8, .to = THIRD, .from = from, .offset = from_offset);
    PUT(.code = STORE_8, .to = to, .from = THIRD, .offset = to_offset);
}

static void put_now(struct outside_writing *out)
{
    PUT(.code = CALL, .immediate = BPF_KTIME_GET_NS);
    PUT(.code = COPY, .to = NOW, .from = RESULT);
}

static size_t loop_bytes(const struct outside_wish *wish)
{
    return sizeof(struct tautochrone_loop) + (size_t)wish->rows * sizeof(struct tautochrone_row);
}

size_t outside_memory_bytes(const struct outside_wish *wish)
{
    return OUTSIDE_TABLE_BYTES + sizeof(struct tautochrone_memory) + wish->loops * loop_bytes(wish);
}

/* RESULT = the numbers of the current thread, in the lower half, and of its process. */
static void put_numbers(struct outside_writing *out)
{
    if (out->space == 0) {
        PUT(.code = CALL, .immediate = BPF_CURRENT_THREAD);
        return;
    }
    put_constant(out, FIRST, out->device);
    put_constant(out, SECOND, out->space);
    PUT(.code = COPY, .to = THIRD, .from = STACK);
    PUT(.code = ADD, .to = THIRD, .immediate = VALUE_AT);
    PUT(.code = SET, .to = FOURTH, .immediate = WORD);
    PUT(.code = CALL, .immediate = BPF_THREAD_IN_NAMESPACE);
    put_exit_if(out, SKIP_IF_OTHER, RESULT, 0, 0); /* of another namespace */
    PUT(.code = LOAD_8, .to = RESULT, .from = STACK, .offset = VALUE_AT);
}

/* THREAD = the number of the current thread, or the end where its process is not watched. */
static void put_watched_only(struct outside_writing *out)
{
    size_t found[OUTSIDE_PROCESSES];
    PUT(.code = COPY, .to = GIVEN, .from = FIRST);
    put_numbers(out);
    PUT(.code = COPY, .to = THREAD, .from = RESULT);
    PUT(.code = SHIFT_LEFT, .to = THREAD, .immediate = HALF);
    PUT(.code = SHIFT_RIGHT, .to = THREAD, .immediate = HALF);
    PUT(.code = SHIFT_RIGHT, .to = RESULT, .immediate = HALF);
    PUT(.code = STORE_8, .to = STACK, .from = RESULT, .offset = PROCESS_AT);
    put_address(out, SECOND, 0);
    for (size_t i = 0; i < OUTSIDE_PROCESSES; i++) {
        PUT(.code = LOAD_4, .to = FIRST, .from = SECOND, .offset = (int16_t)(i * sizeof(uint32_t)));
        found[i] = out->count;
        PUT(.code = SKIP_IF_SAME, .to = FIRST, .from = RESULT);
    }
    put_exit_if(out, SKIP, 0, 0, 0);
    for (size_t i = 0; i < OUTSIDE_PROCESSES; i++) {
        close_skip(out, found[i]);
    }
    if (out->wish->thread != 0) {
        put_exit_if(out, SKIP_IF_OTHER, THREAD, 0, (int32_t)out->wish->thread);
    }
}

static void put_name_to(struct outside_writing *out, uint8_t base, int32_t offset)
{
    PUT(.code = COPY, .to = FIRST, .from = base);
    PUT(.code = ADD, .to = FIRST, .immediate = offset);
    PUT(.code = SET, .to = SECOND, .immediate = OUTSIDE_NAME_BYTES);
    PUT(.code = CALL, .immediate = BPF_CURRENT_NAME);
}

/* The end where the thread has another name. */
static void put_named_only(struct outside_writing *out)
{
    uint64_t name[OUTSIDE_NAME_BYTES / WORD] = {0};
    if (out->wish->thread_name == NULL) {
        return;
    }
    strncpy((char *)name, out->wish->thread_name, sizeof name - 1);
    put_name_to(out, STACK, NAME_AT);
    for (size_t i = 0; i < OUTSIDE_NAME_BYTES / WORD; i++) {
        PUT(.code = LOAD_8, .to = FIRST, .from = STACK, .offset = (int16_t)(NAME_AT + (int)i * WORD));
        put_constant(out, SECOND, name[i]);
        put_exit_if(out, SKIP_IF_UNEQUAL, FIRST, SECOND, 0);
    }
}

/* LOOP = the thread's. One that has none takes a free place, or the program ends: `process` is written last of all. */
static void put_loop(struct outside_writing *out)
{
    size_t found[OUTSIDE_SKIPS_LIMIT];
    size_t free_place[OUTSIDE_SKIPS_LIMIT];
    for (uint32_t i = 0; i < out->wish->loops; i++) {
        put_address(out, LOOP, OUTSIDE_TABLE_BYTES + sizeof(struct tautochrone_memory) + i * loop_bytes(out->wish));
        PUT(.code = LOAD_8, .to = FIRST, .from = LOOP, .offset = LOOP_AT(thread));
        found[i] = out->count;
        PUT(.code = SKIP_IF_SAME, .to = FIRST, .from = THREAD);
        free_place[i] = out->count;
        PUT(.code = SKIP_IF_EQUAL, .to = FIRST, .immediate = 0);
    }
    put_named_only(out);
    put_address(out, FIRST, OUTSIDE_TABLE_BYTES + offsetof(struct tautochrone_memory, refused));
    PUT(.code = STORE_CONSTANT_8, .to = FIRST, .immediate = 1);
    put_exit_if(out, SKIP, 0, 0, 0);
    for (uint32_t i = 0; i < out->wish->loops; i++) {
        close_skip(out, free_place[i]);
    }
    put_named_only(out);
    PUT(.code = SET, .to = RESULT, .immediate = 0);
    PUT(.code = COMPARE_AND_SET_8, .to = LOOP, .from = THREAD, .offset = LOOP_AT(thread), .immediate = BPF_COMPARE_AND_SET);
    put_exit_if(out, SKIP_IF_OTHER, RESULT, 0, 0); /* another thread took it just now: next time, then */
    put_name_to(out, LOOP, LOOP_AT(name));
    put_copy(out, LOOP, LOOP_AT(process), STACK, PROCESS_AT);
    for (uint32_t i = 0; i < out->wish->loops; i++) {
        close_skip(out, found[i]);
    }
}

static void put_count(struct outside_writing *out, int16_t offset)
{
    PUT(.code = LOAD_8, .to = FIRST, .from = LOOP, .offset = offset);
    PUT(.code = ADD, .to = FIRST, .immediate = 1);
    PUT(.code = STORE_8, .to = LOOP, .from = FIRST, .offset = offset);
}

/* The row of the open step, or a count where there is no room for it. The count of rows comes after the row, on every CPU. */
static void put_row(struct outside_writing *out)
{
    enum { ROW_SHIFT = 5 };
    _Static_assert(sizeof(struct tautochrone_row) == 1 << ROW_SHIFT, "a row's number times its size");
    PUT(.code = LOAD_8, .to = FIRST, .from = LOOP, .offset = LOOP_AT(written));
    PUT(.code = LOAD_8, .to = SECOND, .from = LOOP, .offset = LOOP_AT(read));
    PUT(.code = COPY, .to = FOURTH, .from = FIRST);
    PUT(.code = SUBTRACT_REGISTER, .to = FOURTH, .from = SECOND);
    const size_t has_room = out->count;
    PUT(.code = SKIP_IF_BELOW, .to = FOURTH, .immediate = (int32_t)out->wish->rows);
    put_count(out, LOOP_AT(dropped));
    const size_t done = out->count;
    PUT(.code = SKIP);
    close_skip(out, has_room);
    PUT(.code = AND, .to = FIRST, .immediate = (int32_t)out->wish->rows - 1);
    PUT(.code = SHIFT_LEFT, .to = FIRST, .immediate = ROW_SHIFT);
    PUT(.code = COPY, .to = FOURTH, .from = LOOP);
    PUT(.code = ADD, .to = FOURTH, .immediate = (int32_t)sizeof(struct tautochrone_loop));
    PUT(.code = ADD_REGISTER, .to = FOURTH, .from = FIRST);
    put_copy(out, FOURTH, ROW_AT(k), LOOP, LOOP_AT(k));
    put_copy(out, FOURTH, ROW_AT(release_ns), LOOP, OWN_AT(OUTSIDE_RELEASE));
    put_copy(out, FOURTH, ROW_AT(begin_ns), LOOP, OWN_AT(OUTSIDE_BEGIN));
    PUT(.code = STORE_8, .to = FOURTH, .from = NOW, .offset = ROW_AT(end_ns));
    PUT(.code = SET, .to = FIRST, .immediate = 1);
    PUT(.code = FETCH_AND_ADD_8, .to = LOOP, .from = FIRST, .offset = LOOP_AT(written), .immediate = 1);
    close_skip(out, done);
    PUT(.code = STORE_CONSTANT_8, .to = LOOP, .offset = LOOP_AT(open), .immediate = 0);
}

static void put_open(struct outside_writing *out)
{
    PUT(.code = STORE_8, .to = LOOP, .from = NOW, .offset = OWN_AT(OUTSIDE_BEGIN));
    PUT(.code = STORE_CONSTANT_8, .to = LOOP, .offset = LOOP_AT(open), .immediate = 1);
}

/* The end where the call in `number` is none of them. */
static void put_these_only(struct outside_writing *out, const struct outside_calls *calls, uint8_t number)
{
    size_t found[OUTSIDE_CALLS_LIMIT];
    for (uint32_t i = 0; i < calls->count; i++) {
        found[i] = out->count;
        PUT(.code = SKIP_IF_EQUAL, .to = number, .immediate = calls->numbers[i]);
    }
    put_exit_if(out, SKIP, 0, 0, 0);
    for (uint32_t i = 0; i < calls->count; i++) {
        close_skip(out, found[i]);
    }
}

/* The instant that the sleep is to last until; the end where it has none, or one of another clock. */
static void put_asked(struct outside_writing *out, const struct outside_calls *calls)
{
    enum { NS_PER_S = 1000000000 };
    PUT(.code = LOAD_8, .to = FIRST, .from = GIVEN, .offset = WORD);
    put_exit_if(out, SKIP_IF_OTHER, FIRST, 0, calls->absolute);
    PUT(.code = LOAD_8, .to = FOURTH, .from = GIVEN);
    PUT(.code = LOAD_8, .to = FIRST, .from = FOURTH, .offset = (int16_t)calls->clock_at);
    put_exit_if(out, SKIP_IF_OTHER_4, FIRST, 0, CLOCK_MONOTONIC);
    PUT(.code = LOAD_8, .to = FIRST, .from = FOURTH, .offset = (int16_t)calls->flags_at);
    PUT(.code = AND, .to = FIRST, .immediate = TIMER_ABSTIME);
    put_exit_if(out, SKIP_IF_EQUAL, FIRST, 0, 0);
    PUT(.code = LOAD_8, .to = THIRD, .from = FOURTH, .offset = (int16_t)calls->instant_at);
    PUT(.code = COPY, .to = FIRST, .from = STACK);
    PUT(.code = ADD, .to = FIRST, .immediate = NAME_AT);
    PUT(.code = SET, .to = SECOND, .immediate = 2 * WORD);
    PUT(.code = CALL, .immediate = BPF_PROBE_READ_USER);
    put_exit_if(out, SKIP_IF_OTHER, RESULT, 0, 0);
    PUT(.code = LOAD_8, .to = FIRST, .from = STACK, .offset = NAME_AT);
    PUT(.code = MULTIPLY, .to = FIRST, .immediate = NS_PER_S);
    PUT(.code = LOAD_8, .to = SECOND, .from = STACK, .offset = NAME_AT + WORD);
    PUT(.code = ADD_REGISTER, .to = FIRST, .from = SECOND);
    PUT(.code = STORE_8, .to = LOOP, .from = FIRST, .offset = OWN_AT(OUTSIDE_ASKED));
}

/* sys_enter(registers, number) */
void outside_write_sleep(struct outside_writing *out, const struct outside_calls *calls)
{
    PUT(.code = LOAD_8, .to = SECOND, .from = FIRST, .offset = WORD);
    put_these_only(out, calls, SECOND);
    put_watched_only(out);
    put_now(out);
    put_loop(out);
    PUT(.code = LOAD_8, .to = FIRST, .from = LOOP, .offset = LOOP_AT(open));
    const size_t none_is_open = out->count;
    PUT(.code = SKIP_IF_EQUAL, .to = FIRST, .immediate = 0);
    put_row(out);
    close_skip(out, none_is_open);
    PUT(.code = STORE_CONSTANT_8, .to = LOOP, .offset = SLEEPS_AT, .immediate = 1);
    PUT(.code = STORE_CONSTANT_8, .to = LOOP, .offset = OWN_AT(OUTSIDE_ASKED), .immediate = 0);
    if (calls->absolute >= 0) {
        put_asked(out, calls);
    }
    put_end(out);
}

/* sys_exit(registers, result). What a signal interrupted and the kernel goes on with, by itself, is no end: its own errors, -512
 * to -516. */
void outside_write_wake(struct outside_writing *out, const struct outside_calls *calls)
{
    enum { KERNEL_GOES_ON = -511 };
    if (calls->number_at >= 0) { /* soon: it is called at the end of each system call of the machine */
        PUT(.code = LOAD_8, .to = SECOND, .from = FIRST);
        PUT(.code = (uint8_t)(calls->number_bytes == WORD ? LOAD_8 : LOAD_4), .to = SECOND, .from = SECOND,
            .offset = (int16_t)calls->number_at);
        put_these_only(out, calls, SECOND);
    }
    put_watched_only(out);
    put_loop(out);
    PUT(.code = LOAD_8, .to = FIRST, .from = LOOP, .offset = SLEEPS_AT);
    put_exit_if(out, SKIP_IF_EQUAL, FIRST, 0, 0);
    PUT(.code = LOAD_8, .to = FIRST, .from = GIVEN, .offset = WORD);
    const size_t is_over = out->count;
    PUT(.code = SKIP_IF_AT_LEAST, .to = FIRST, .immediate = KERNEL_GOES_ON);
    put_exit_if(out, SKIP, 0, 0, 0);
    close_skip(out, is_over);
    PUT(.code = STORE_CONSTANT_8, .to = LOOP, .offset = SLEEPS_AT, .immediate = 0);
    put_copy(out, LOOP, OWN_AT(OUTSIDE_RELEASE), LOOP, OWN_AT(OUTSIDE_ASKED));
    put_count(out, LOOP_AT(k));
    put_now(out);
    put_open(out);
    put_end(out);
}

/* FIRST = what an argument of the probe has. */
static void put_argument(struct outside_writing *out, const struct usdt_argument *argument)
{
    if (argument->where == USDT_CONSTANT) {
        put_constant(out, FIRST, (uint64_t)argument->value);
        return;
    }
    PUT(.code = LOAD_8, .to = FIRST, .from = GIVEN, .offset = (int16_t)argument->at);
    if (argument->where == USDT_MEMORY) {
        PUT(.code = COPY, .to = THIRD, .from = FIRST);
        PUT(.code = ADD, .to = THIRD, .immediate = (int32_t)argument->value);
        PUT(.code = STORE_CONSTANT_8, .to = STACK, .offset = VALUE_AT, .immediate = 0);
        PUT(.code = COPY, .to = FIRST, .from = STACK);
        PUT(.code = ADD, .to = FIRST, .immediate = VALUE_AT);
        PUT(.code = SET, .to = SECOND, .immediate = argument->bytes);
        PUT(.code = CALL, .immediate = BPF_PROBE_READ_USER);
        PUT(.code = LOAD_8, .to = FIRST, .from = STACK, .offset = VALUE_AT); /* the lowest byte is first: others are not built */
    }
    const int32_t above = (WORD - argument->bytes) * WORD;
    if (above > 0) {
        PUT(.code = SHIFT_LEFT, .to = FIRST, .immediate = above);
        PUT(.code = (uint8_t)(argument->is_signed ? SHIFT_RIGHT_SIGNED : SHIFT_RIGHT), .to = FIRST, .immediate = above);
    }
}

static void put_irregular(struct outside_writing *out, enum bpf_code unless)
{
    PUT(.code = LOAD_8, .to = FIRST, .from = LOOP, .offset = LOOP_AT(open));
    const size_t regular = out->count;
    PUT(.code = (uint8_t)unless, .to = FIRST, .immediate = 0);
    put_count(out, LOOP_AT(irregular));
    if (unless == SKIP_IF_OTHER) { /* an end without its begin */
        put_exit_if(out, SKIP, 0, 0, 0);
    }
    close_skip(out, regular);
}

void outside_write_begin(struct outside_writing *out, const struct usdt_argument arguments[USDT_ARGUMENTS])
{
    put_watched_only(out);
    put_loop(out);
    put_irregular(out, SKIP_IF_EQUAL);
    if (arguments[0].where != USDT_UNKNOWN) {
        put_argument(out, &arguments[0]);
        PUT(.code = STORE_8, .to = LOOP, .from = FIRST, .offset = LOOP_AT(k));
    } else {
        put_count(out, LOOP_AT(k));
    }
    if (arguments[1].where != USDT_UNKNOWN) {
        put_argument(out, &arguments[1]);
        PUT(.code = STORE_8, .to = LOOP, .from = FIRST, .offset = OWN_AT(OUTSIDE_RELEASE));
    }
    put_now(out);
    put_open(out);
    put_end(out);
}

void outside_write_end(struct outside_writing *out)
{
    put_watched_only(out);
    put_now(out);
    put_loop(out);
    put_irregular(out, SKIP_IF_OTHER);
    put_row(out);
    put_end(out);
}
