/* Runs a fuzz target once with every file of a folder: what libFuzzer's main does elsewhere. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_INPUT = 1 << 20, PATH_BYTES = 4096 };

static uint8_t input[LARGEST_INPUT];

static int run_one(const char *folder, const char *name)
{
    char path[PATH_BYTES];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = length > 0 && (size_t)length < sizeof path ? fopen(path, "rb") : NULL;
    if (file == NULL) {
        perror(name);
        return EXIT_FAILURE;
    }
    const size_t size = fread(input, 1, sizeof input, file);
    const int failed = ferror(file);
    (void)fclose(file);
    if (failed == 0) {
        (void)LLVMFuzzerTestOneInput(input, size);
    }
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    int code = EXIT_SUCCESS;
    int count = 0;
    DIR *const folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (folder == NULL) {
        (void)fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return EXIT_FAILURE;
    }
    (void)LLVMFuzzerTestOneInput(input, 0);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] != '.') {
            code = run_one(argv[1], entry->d_name) == EXIT_SUCCESS ? code : EXIT_FAILURE;
            count++;
        }
    }
    (void)closedir(folder);
    return count > 0 ? code : EXIT_FAILURE;
}
