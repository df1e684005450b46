/* A stand-in for VxWorks' header, for tests: what the port needs of it. */
#ifndef STAND_IN_MSGQLIB_H
#define STAND_IN_MSGQLIB_H

#include <sys/types.h>
#include <vxWorks.h>

typedef struct queue *MSG_Q_ID;

#define MSG_Q_ID_NULL ((MSG_Q_ID)0)
#define MSG_Q_PRIORITY 0x01
#define MSG_Q_INTERRUPTIBLE 0x04
#define MSG_PRI_NORMAL 0

MSG_Q_ID msgQCreate(size_t messages, size_t bytes, int options);
STATUS msgQSend(MSG_Q_ID queue, char *data, size_t bytes, _Vx_ticks_t ticks, int priority);
ssize_t msgQReceive(MSG_Q_ID queue, char *data, size_t bytes, _Vx_ticks_t ticks);
STATUS msgQDelete(MSG_Q_ID queue);

#endif
