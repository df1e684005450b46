/*
 * What the fuzz targets share: one file for each parser of what comes from outside, which defines
 * LLVMFuzzerTestOneInput. scripts/fuzz builds them with libFuzzer; every other build links replay.c, which runs the
 * inputs in corpus/ once. In both, stand_in.c takes the place of what would wait, print, or touch other processes.
 */
#ifndef TAUTO_FUZZ_H
#define TAUTO_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy as a string in memory of exactly its size, so that the address sanitizer sees a step beyond. Ends the program
 * where there is no memory. */
char *fuzz_string(const uint8_t *data, size_t size);

/* Cuts the string at its lines' ends; returns how many words there are, at most `most`. */
int fuzz_lines(char *string, char **words, int most);

/* A folder of this process, empty again at each call, that is removed when the process ends. */
const char *fuzz_folder(void);

#endif
