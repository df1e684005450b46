/* USDT probes of programs, as sys/sdt.h leaves them: notes in the file that say where a probe is, and where its arguments are
 * when a thread comes by. */
#ifndef TAUTO_STEP_USDT_H
#define TAUTO_STEP_USDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { USDT_ARGUMENTS = 2 };

enum usdt_where { USDT_UNKNOWN, USDT_REGISTER, USDT_MEMORY, USDT_CONSTANT };

/* An argument of at most 64 bits. */
struct usdt_argument {
    enum usdt_where where; /* unknown too: the probe has none */
    uint8_t bytes;
    bool is_signed;
    uint16_t at;   /* of that register in what a probe's program gets */
    int64_t value; /* the constant; of memory, how far behind the register's address */
};

struct usdt_site {
    uint64_t offset;    /* in the file */
    uint64_t semaphore; /* in the file; 0: it has none */
    struct usdt_argument arguments[USDT_ARGUMENTS];
};

/* Calls for each place of this probe in an ELF file of 64 bits of this machine's order. Whatever else the file is has none. */
void usdt_sites(const char *path, const char *provider, const char *name,
                void (*visit)(void *argument, const struct usdt_site *site), void *argument);

#endif
