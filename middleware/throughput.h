/* The command `throughput`. Its options, its rows. */
#ifndef TAUTO_THROUGHPUT_H
#define TAUTO_THROUGHPUT_H

#include "ends.h"

enum throughput_direction { DIRECTION_BOTH, DIRECTION_TWO_WAY, DIRECTION_ONE_WAY };
enum { LENGTHS_LIMIT = 24, ROWS_LIMIT = 2 * (6 + 2 * LENGTHS_LIMIT), ROW_NAME_BYTES = 48 };

/* One row of the table: one operation, called again and again. */
struct throughput_row {
    char name[ROW_NAME_BYTES];
    bool one_way;
    enum value_kind kind;
    uint32_t length;

    /* What came of it. */
    uint64_t calls;     /* recorded ones */
    uint64_t lost;      /* two-way: without an answer */
    uint64_t confirmed; /* one-way: of the calls, what the server has served */
    int64_t elapsed_ns; /* from the first recorded call to the return of the last, without rests */
    int64_t rested_ns;
    int64_t drained_ns; /* one-way: until the server had served all that came before */
};

struct throughput_options {
    struct ends_options ends;
    const char *types_text;
    const char *lengths_text;
    int direction; /* enum throughput_direction */
    int64_t count;
    int64_t warmup;
    int64_t row_limit_ns;

    /* After reading: the rows that this transport can carry, and those that it can't. */
    struct throughput_row rows[ROWS_LIMIT];
    uint32_t row_count;
    struct throughput_row too_large[ROWS_LIMIT];
    uint32_t too_large_count;
    uint32_t longest; /* bytes of the largest sequence */
};

bool throughput_options_read(struct throughput_options *options, int argc, char **argv, int *code);
void throughput_options_to_json(struct json *json, const struct throughput_options *options, int64_t ring_rows,
                                const struct server_seen *server);

int throughput_main(int argc, char **argv);

#endif
