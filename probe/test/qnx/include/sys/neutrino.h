/* A stand-in for QNX's header, for tests: what the port needs of it. */
#ifndef STAND_IN_NEUTRINO_H
#define STAND_IN_NEUTRINO_H

#include <stdint.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>

#define _NTO_SIDE_CHANNEL 0x40000000
#define _NTO_TCTL_RUNMASK 4
#define _NTO_TCTL_RUNMASK_GET_AND_SET 6
#define _NTO_TCTL_ONE_THREAD_HOLD 8
#define _NTO_TCTL_ONE_THREAD_CONT 9
#define _NTO_TIMEOUT_SEND (1 << 3)
#define _PULSE_CODE_MINAVAIL 0

struct _pulse {
    int16_t type;
    int16_t subtype;
    int8_t code;
    int value;
};
struct _msg_info;

int ThreadCtl(int command, void *data);
int TimerTimeout(clockid_t clock, int flags, const struct sigevent *event, const uint64_t *length_ns, uint64_t *left_ns);
int ChannelCreate(unsigned flags);
int ChannelDestroy(int channel);
int ConnectAttach(uint32_t node, pid_t process, int channel, unsigned index, int flags);
int ConnectDetach(int connection);
int MsgSend(int connection, const void *sent, int sent_bytes, void *reply, int reply_bytes);
int MsgReceive(int channel, void *message, int bytes, struct _msg_info *info);
int MsgReply(int sender, int status, const void *reply, int bytes);
int MsgSendPulse(int connection, int priority, int code, int value);
int MsgReceivePulse(int channel, void *pulse, int bytes, struct _msg_info *info);

#endif
