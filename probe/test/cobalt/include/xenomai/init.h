/* A stand-in for Xenomai's header, for tests: what the port needs of it. */
#ifndef STAND_IN_XENOMAI_INIT_H
#define STAND_IN_XENOMAI_INIT_H

void xenomai_init(int *argc, char *const **argv);

#endif
