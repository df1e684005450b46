/* Packets that arrive at a device, so that the system has to take them in: for loads. */
#ifndef TAUTO_OS_PACKETS_H
#define TAUTO_OS_PACKETS_H

#include "os/os.h"

#include <stdint.h>

/* A pair of network devices joined by a virtual wire, in a network of this process alone: from now on it sees no other,
 * and the pair goes with it, however it ends. Before there are other threads. OS_NOT_PERMITTED: neither this user nor one
 * of a namespace of their own may make them. OS_UNSUPPORTED: the kernel has no such devices. */
enum os_status os_packets_prepare(void);

/* Each thread has its own. */
struct os_packets {
    intptr_t handle;
};
enum os_status os_packets_open(struct os_packets *packets);
void os_packets_close(struct os_packets packets);
/* One packet arrives at the other device, which nobody listens at: the system takes it in on this CPU, as it takes in
 * those of a card (on Linux in the softirq NET_RX), and throws it away. */
enum os_status os_packets_send(struct os_packets packets);

#endif
