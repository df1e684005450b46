/* See fuzz.h. The linker gives the parsers these in place of the functions of their names (--wrap). */
#define _GNU_SOURCE
#include "fuzz.h"

#include "os/os.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPEN_FOLDERS = 16, FOLDER_BYTES = 256 };

int64_t __wrap_os_now_ns(void);
enum os_status __wrap_os_sleep_until(int64_t instant_ns);
enum os_status __wrap_os_output_write(struct os_output output, const void *data, size_t bytes);

static int64_t now_ns;

/* Time passes only when somebody looks or sleeps. */
int64_t __wrap_os_now_ns(void)
{
    return now_ns += 1000;
}

enum os_status __wrap_os_sleep_until(int64_t instant_ns)
{
    now_ns = instant_ns > now_ns ? instant_ns : now_ns;
    return OS_OK;
}

enum os_status __wrap_os_output_write(struct os_output output, const void *data, size_t bytes)
{
    (void)output;
    return memchr(data, '\0', bytes) == NULL ? OS_OK : OS_FAILED;
}

char *fuzz_string(const uint8_t *data, size_t size)
{
    char *const string = malloc(size + 1);
    if (string == NULL) {
        abort();
    }
    if (size > 0) {
        memcpy(string, data, size);
    }
    string[size] = '\0';
    return string;
}

int fuzz_lines(char *string, char **words, int most)
{
    int count = 0;
    while (count < most && *string != '\0') {
        words[count++] = string;
        string += strcspn(string, "\n");
        if (*string == '\n') {
            *string++ = '\0';
        }
    }
    return count;
}

static char folder[FOLDER_BYTES];

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *place)
{
    (void)found;
    (void)kind;
    return place->level > 0 ? remove(path) : 0;
}

static void empty_folder(void)
{
    (void)nftw(folder, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void)
{
    empty_folder();
    (void)rmdir(folder);
}

const char *fuzz_folder(void)
{
    if (folder[0] != '\0') {
        empty_folder();
        return folder;
    }
    const char *const temporary = getenv("TMPDIR");
    const int length =
        snprintf(folder, sizeof folder, "%s/tauto-fuzz-XXXXXX", temporary != NULL ? temporary : "/tmp");
    if (length < 0 || (size_t)length >= sizeof folder || mkdtemp(folder) == NULL || atexit(remove_folder) != 0) {
        abort();
    }
    return folder;
}
