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
int experiment_middleware_throughput(int argc, char **argv);
int experiment_middleware_latency(int argc, char **argv);
int experiment_middleware_footprint(int argc, char **argv);
/* Not an experiment: the servants that one calls from elsewhere. */
int middleware_serve(int argc, char **argv);

#endif
