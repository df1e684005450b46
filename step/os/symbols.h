/* Names of functions, from the symbol table of an ELF file. */
#ifndef TAUTO_STEP_SYMBOLS_H
#define TAUTO_STEP_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The function that has the code at this address of the file, and how many bytes behind its beginning that is; names of C++
 * are written as in its source where the library for that is there. False: the file does not tell. */
bool symbol_find(const char *path, uint64_t at, char *name, size_t bytes, uint64_t *behind);
/* Lets go of the file that was read last. */
void symbols_close(void);

#endif
