/* The command `footprint`. */
#ifndef TAUTO_FOOTPRINT_H
#define TAUTO_FOOTPRINT_H

#include "ends.h"

struct footprint_options {
    struct ends_options ends;
    int64_t servants;
    int64_t calls;
};

bool footprint_options_read(struct footprint_options *options, int argc, char **argv, int *code);
void footprint_options_to_json(struct json *json, const struct footprint_options *options, int64_t ring_rows,
                               const struct server_seen *server);

int footprint_main(int argc, char **argv);

#endif
