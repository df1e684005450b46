/* An experiment of the probe: one file each, and one line in the table of main.c. */
#ifndef TAUTO_EXPERIMENT_H
#define TAUTO_EXPERIMENT_H

/* Each takes the words after its name and returns the exit code of the program. */
int experiment_clock(int argc, char **argv);
int experiment_cyclic(int argc, char **argv);
int experiment_switch(int argc, char **argv);
int experiment_rhealstone(int argc, char **argv);
int experiment_inversion(int argc, char **argv);
int experiment_period(int argc, char **argv);
int experiment_response(int argc, char **argv);
int experiment_interrupt(int argc, char **argv);
int experiment_timerlat(int argc, char **argv);
int experiment_kernel(int argc, char **argv);
int experiment_taskset(int argc, char **argv);
int experiment_tire(int argc, char **argv);
/* These go on as another program, with the word before `argv[0]` as its command; among them the servants that an experiment
 * calls from elsewhere. */
int experiment_middleware(int argc, char **argv);
int experiment_step(int argc, char **argv);
int experiment_selftest(int argc, char **argv);

#endif
