/* The programs of the flight recorder together: which there are, and whether they are attached. */
#ifndef TAUTO_LINUX_LATE_PROGRAMS_H
#define TAUTO_LINUX_LATE_PROGRAMS_H

#include "os/linux/late_program.h"

enum { LATE_PROGRAMS_LIMIT = 32 };

struct late_programs {
    uint32_t count;
    int programs[LATE_PROGRAMS_LIMIT];
    int links[LATE_PROGRAMS_LIMIT];                         /* -1: loaded, and not called */
    const struct late_source *sources[LATE_PROGRAMS_LIMIT]; /* what each tells */
};

/* Loads and attaches all that this kernel has. `missing` of each kind says why it is not recorded, NULL where it is. False
 * with errno set where not even switches can be recorded; then nothing is attached. */
bool late_programs_attach(struct late_programs *programs, const struct late_maps *maps, const struct btf *btf,
                          const char *missing[OS_LATE_KIND_LIMIT]);
void late_programs_detach(struct late_programs *programs);
/* Have the kernel call none of them, and all again; `missing` says of what it then does not. */
void late_programs_unlink(struct late_programs *programs);
void late_programs_link(struct late_programs *programs, const char *missing[OS_LATE_KIND_LIMIT]);
/* Events that were not written, since one of the same kind came in the middle of another on its CPU. */
uint64_t late_programs_skipped(const struct late_programs *programs);

#endif
