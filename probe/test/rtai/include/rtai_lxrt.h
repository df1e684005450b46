/* A stand-in for RTAI's header, for tests: what the port needs of it. */
#ifndef STAND_IN_RTAI_LXRT_H
#define STAND_IN_RTAI_LXRT_H

#include <sched.h>
#include <stdlib.h>

typedef long long RTIME;
typedef struct rt_task_struct RT_TASK;

#define RT_SCHED_READY 1
#define RT_SCHED_SUSPENDED 2

#define RTE_BASE 0x3fffff00
#define RTE_TMROVRN (RTE_BASE + 1)
#define RTE_UNBLKD (RTE_BASE + 2)
#define RTE_TIMOUT (RTE_BASE + 3)
#define RTE_OBJREM (RTE_BASE + 4)
#define RTE_LOWERR RTE_TMROVRN

unsigned long rt_get_name(void *object);
RT_TASK *rt_task_init_schmod(unsigned long name, int priority, int stack_size, int max_msg_size, int policy, int cpus_allowed);
int rt_task_delete(RT_TASK *task);
void rt_make_hard_real_time(void);
void rt_make_soft_real_time(void);
int rt_is_hard_timer_running(void);
void rt_set_oneshot_mode(void);
RTIME start_rt_timer(int period);
void stop_rt_timer(void);
RTIME rt_get_time_ns(void);
RTIME nano2count(RTIME ns);
int rt_sleep_until(RTIME time);
void rt_task_yield(void);
int rt_task_suspend(RT_TASK *task);
int rt_task_resume(RT_TASK *task);
int rt_get_task_state(RT_TASK *task);
int rt_task_masked_unblock(RT_TASK *task, unsigned long mask);

#endif
