/* A stand-in for RTAI's header, for tests: what the port needs of it. */
#ifndef STAND_IN_RTAI_MBX_H
#define STAND_IN_RTAI_MBX_H

#include <rtai_sem.h>

typedef struct rt_mailbox MBX;

MBX *rt_typed_mbx_init(unsigned long name, int size, int qtype);
int rt_mbx_delete(MBX *mbx);
int rt_mbx_send(MBX *mbx, void *msg, int msg_size);
int rt_mbx_receive(MBX *mbx, void *msg, int msg_size);

#endif
