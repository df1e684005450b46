/* The kernel's description of its types: a small one written here, damaged ones, and that of the kernel that runs. */
#include "os/linux/btf.h"
#include "test/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * struct inner { int level; };
 * struct outer { char *name; union { struct inner inner; long long count; }; unsigned flags : 3; };
 * typedef void (*btf_trace_made)(void *, bool, struct outer *, unsigned, const struct outer *);
 */
static const char names[] = "\0int\0char\0long long\0unsigned\0inner\0level\0outer\0name\0count\0flags\0btf_trace_made";
enum { INT = 1, CHAR = 2, LONG_LONG = 3, UNSIGNED = 4, CHARS = 5, INNER = 6, EITHER = 7, OUTER = 8, OUTERS = 9,
       CONST_OUTER = 10, CONST_OUTERS = 11, PROTOTYPE = 12, FUNCTIONS = 13, TRACEPOINT = 14 };

static uint32_t named(const char *name)
{
    for (size_t at = 1; at < sizeof names; at += strlen(names + at) + 1) {
        if (strcmp(names + at, name) == 0) {
            return (uint32_t)at;
        }
    }
    return 0;
}

static uint32_t kind(enum btf_kind of, uint32_t parts)
{
    return (uint32_t)of << 24 | parts;
}

/* Returns its size. */
static size_t write_made(char **bytes)
{
    const uint32_t with_widths = 1U << 31;
    const uint32_t types[] = {
        named("int"), kind(BTF_INT, 0), 4, 1U << 24 | 32, /* signed */
        named("char"), kind(BTF_INT, 0), 1, 8,
        named("long long"), kind(BTF_INT, 0), 8, 1U << 24 | 64,
        named("unsigned"), kind(BTF_INT, 0), 4, 32,
        0, kind(BTF_POINTER, 0), CHAR,
        named("inner"), kind(BTF_STRUCT, 1), 4, named("level"), INT, 0,
        0, kind(BTF_UNION, 2), 8, named("inner"), INNER, 0, named("count"), LONG_LONG, 0,
        named("outer"), kind(BTF_STRUCT, 3) | with_widths, 24, named("name"), CHARS, 0, 0, EITHER, 64, named("flags"),
        UNSIGNED, 3U << 24 | 128,
        0, kind(BTF_POINTER, 0), OUTER,
        0, kind(BTF_CONST, 0), OUTER,
        0, kind(BTF_POINTER, 0), CONST_OUTER,
        0, kind(BTF_PROTOTYPE, 5), 0, 0, CHARS, 0, INT, 0, OUTERS, 0, UNSIGNED, 0, CONST_OUTERS,
        0, kind(BTF_POINTER, 0), PROTOTYPE,
        named("btf_trace_made"), kind(BTF_TYPEDEF, 0), FUNCTIONS,
    };
    const struct {
        uint16_t magic;
        uint8_t version;
        uint8_t flags;
        uint32_t header_bytes, types_at, types_bytes, names_at, names_bytes;
    } header = {0xeb9f, 1, 0, sizeof header, 0, sizeof types, sizeof types, sizeof names};
    *bytes = malloc(sizeof header + sizeof types + sizeof names);
    assert_non_null(*bytes);
    memcpy(*bytes, &header, sizeof header);
    memcpy(*bytes + sizeof header, types, sizeof types);
    memcpy(*bytes + sizeof header + sizeof types, names, sizeof names);
    return sizeof header + sizeof types + sizeof names;
}

static void members_are_found_where_they_lie(void **state)
{
    (void)state;
    char *bytes = NULL;
    const size_t size = write_made(&bytes);
    struct btf *const btf = btf_from(bytes, size);
    struct btf_field field;
    assert_non_null(btf);
    assert_int_equal(btf_find(btf, BTF_STRUCT, "outer"), OUTER);
    assert_int_equal(btf_find(btf, BTF_TYPEDEF, "outer"), 0);
    assert_true(btf_member(btf, "outer", "name", &field));
    assert_int_equal(field.offset, 0);
    assert_int_equal(field.bytes, sizeof(void *));
    assert_true(btf_member(btf, "outer", "inner.level", &field)); /* in a union without a name */
    assert_int_equal(field.offset, 8);
    assert_int_equal(field.bytes, 4);
    assert_true(field.is_signed);
    assert_true(btf_member(btf, "outer", "count", &field));
    assert_int_equal(field.bytes, 8);
    for (const char *const *absent = (const char *const[]){"flags", "level", "inner.name", "name.level", "", NULL};
         *absent != NULL; absent++) {
        assert_false(btf_member(btf, "outer", *absent, &field));
    }
    assert_false(btf_member(btf, "out", "name", &field));
    btf_close(btf);
}

static void arguments_are_found_by_what_they_point_to(void **state)
{
    (void)state;
    char *bytes = NULL;
    const size_t size = write_made(&bytes);
    struct btf *const btf = btf_from(bytes, size);
    assert_non_null(btf);
    const uint32_t tracepoint = btf_tracepoint(btf, "made");
    assert_int_equal(tracepoint, TRACEPOINT);
    assert_int_equal(btf_arguments(btf, tracepoint), 4);
    assert_int_equal(btf_argument(btf, tracepoint, "outer", 0), 1);
    assert_int_equal(btf_argument(btf, tracepoint, "outer", 1), 3);
    assert_int_equal(btf_argument(btf, tracepoint, "outer", 2), -1);
    assert_int_equal(btf_argument(btf, tracepoint, "inner", 0), -1);
    assert_int_equal(btf_tracepoint(btf, "mad"), 0);
    assert_int_equal(btf_arguments(btf, OUTER), 0);
    btf_close(btf);
}

static void what_is_damaged_is_refused_or_has_less(void **state)
{
    (void)state;
    char *whole = NULL;
    const size_t size = write_made(&whole);
    for (size_t i = 0; i < size; i++) {
        for (int cut = 0; cut < 2; cut++) { /* cut off there, or another byte there */
            const size_t left = cut != 0 ? i : size;
            char *const bytes = malloc(left + 1);
            assert_non_null(bytes);
            memcpy(bytes, whole, left);
            bytes[i] = (char)(cut != 0 ? 0 : ~bytes[i]);
            struct btf *const btf = btf_from(bytes, left);
            struct btf_field field;
            if (btf == NULL) {
                assert_int_equal(errno, EINVAL);
                continue;
            }
            assert_true(cut == 0);
            (void)btf_member(btf, "outer", "inner.level", &field);
            (void)btf_argument(btf, btf_tracepoint(btf, "made"), "outer", 1);
            btf_close(btf);
        }
    }
    free(whole);
}

static void this_kernel_is_understood(void **state)
{
    (void)state;
    struct btf *const btf = btf_open();
    struct btf_field field;
    if (btf == NULL) {
        print_message("not shown: this kernel does not describe its types (%s)\n", strerror(errno));
        skip();
    }
    assert_true(btf_member(btf, "task_struct", "pid", &field));
    assert_int_equal(field.bytes, 4);
    assert_true(field.is_signed);
    assert_true(btf_member(btf, "task_struct", "comm", &field));
    assert_int_equal(field.bytes, 16);
    const uint32_t tracepoint = btf_tracepoint(btf, "sched_switch");
    assert_true(btf_arguments(btf, tracepoint) >= 3);
    assert_true(btf_argument(btf, tracepoint, "task_struct", 0) >= 1);
    assert_int_equal(btf_argument(btf, tracepoint, "task_struct", 1), btf_argument(btf, tracepoint, "task_struct", 0) + 1);
    btf_close(btf);
}

TESTS(cmocka_unit_test(members_are_found_where_they_lie), cmocka_unit_test(arguments_are_found_by_what_they_point_to),
      cmocka_unit_test(what_is_damaged_is_refused_or_has_less), cmocka_unit_test(this_kernel_is_understood))
