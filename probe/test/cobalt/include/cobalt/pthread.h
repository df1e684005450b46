/* A stand-in for Xenomai's header, for tests: what the port needs of it. */
#ifndef STAND_IN_COBALT_PTHREAD_H
#define STAND_IN_COBALT_PTHREAD_H

#include_next <pthread.h>

#define __STD(call) __real_##call

#define PTHREAD_WARNSW 0x00200000

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __real_pthread_kill(pthread_t, int);
int pthread_setmode_np(int clear, int set, int *before);

#endif
