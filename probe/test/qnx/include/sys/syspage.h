/* A stand-in for QNX's header, for tests: what the port needs of it. */
#ifndef STAND_IN_SYSPAGE_H
#define STAND_IN_SYSPAGE_H

struct syspage_entry {
    unsigned short num_cpu;
};
extern struct syspage_entry *_syspage_ptr;

#endif
