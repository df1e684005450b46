/* A stand-in for RTAI's header, for tests: what the port needs of it. */
#ifndef STAND_IN_RTAI_SEM_H
#define STAND_IN_RTAI_SEM_H

#include <rtai_lxrt.h>

typedef struct rt_semaphore SEM;
typedef SEM CND;

#define BIN_SEM 1
#define CNT_SEM 2
#define RES_SEM 3
#define PRIO_Q 0

SEM *rt_typed_sem_init(unsigned long name, int value, int type);
int rt_sem_delete(SEM *sem);
int rt_sem_signal(SEM *sem);
int rt_sem_wait(SEM *sem);
int rt_sem_wait_until(SEM *sem, RTIME time);
int rt_cond_signal(CND *cnd);
int rt_cond_wait(CND *cnd, SEM *mutex);

#endif
