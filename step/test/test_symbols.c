/* Names of functions from ELF files, also from files that are damaged. */
#include "os/symbols.h"

#include "test/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 64, CUTS = 200 };

static const char own_file[] = "/proc/self/exe";

static unsigned char *read_own_file(size_t *bytes)
{
    FILE *const in = fopen(own_file, "rb");
    assert_non_null(in);
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    *bytes = (size_t)ftell(in);
    rewind(in);
    unsigned char *const data = malloc(*bytes);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, in), *bytes);
    (void)fclose(in);
    return data;
}

/* Where this program begins in memory, as the linker knows it. */
extern const char own_begin[] __asm__("__executable_start");

int main(void);

static void a_function_is_known_at_each_of_its_bytes(void **state)
{
    (void)state;
    char name[NAME_BYTES];
    uint64_t behind = 0;
    const uint64_t at = (uintptr_t)main - (uintptr_t)own_begin;
    assert_true(symbol_find(own_file, at + 1, name, sizeof name, &behind));
    assert_string_equal(name, "main");
    assert_int_equal(behind, 1);
    assert_false(symbol_find(own_file, UINT64_MAX, name, sizeof name, &behind));
    symbols_close();
}

static void what_is_no_such_file_tells_nothing(void **state)
{
    (void)state;
    char name[NAME_BYTES];
    uint64_t behind = 0;
    assert_false(symbol_find("/does/not/exist", 0, name, sizeof name, &behind));
    assert_false(symbol_find("/proc/self", 0, name, sizeof name, &behind));
    assert_false(symbol_find("/dev/null", 0, name, sizeof name, &behind));
    assert_false(symbol_find("", 0, name, sizeof name, &behind));
    symbols_close();
}

static void a_damaged_file_is_not_believed(void **state)
{
    (void)state;
    char path[] = "/tmp/tauto-symbols-XXXXXX";
    char name[NAME_BYTES];
    uint64_t behind = 0;
    size_t bytes = 0;
    unsigned char *const data = read_own_file(&bytes);
    const int file = mkstemp(path);
    assert_true(file >= 0);
    for (size_t i = 0; i < CUTS; i++) {
        const size_t kept = i % 2 == 0 ? bytes / CUTS * i : bytes;
        unsigned char *const changed = i % 2 == 0 ? data : &data[i % 64]; /* bytes of its header are flipped one by one */
        *changed ^= i % 2 == 0 ? 0 : 0xff;
        assert_int_equal(ftruncate(file, 0), 0);
        assert_int_equal(pwrite(file, data, kept, 0), (ssize_t)kept);
        *changed ^= i % 2 == 0 ? 0 : 0xff;
        symbols_close();
        (void)symbol_find(path, bytes / 2, name, sizeof name, &behind);
    }
    symbols_close();
    close(file);
    unlink(path);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_is_known_at_each_of_its_bytes),
        cmocka_unit_test(what_is_no_such_file_tells_nothing),
        cmocka_unit_test(a_damaged_file_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
