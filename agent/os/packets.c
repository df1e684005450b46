/* veth(4), unshare(2), rtnetlink(7), netdevice(7), packet(7). Not every C library has the kernel's headers, so its numbers stand here. */
#define _GNU_SOURCE /* unshare */
#include "os/packets.h"

#include "os/posix/status.h"

#include <errno.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUTE = 0, NEW_LINK = 16, ERROR_MESSAGE = 2, REQUEST = 1, ACK = 4, EXCLUSIVE = 0x200, CREATE = 0x400 };
enum { LINK_NAME = 3, LINK_INFO = 18, INFO_KIND = 1, INFO_DATA = 2, VETH_PEER = 1 };
enum { FRAME_BYTES = 60, ADDRESS_BYTES = 6, LOCAL_EXPERIMENT = 0x88b5, UP_TRIES = 1000, TRY_AGAIN_NS = 1000000 };

static const char here[] = "tauto0";
static const char there[] = "tauto1";

struct message_header {
    uint32_t bytes;
    uint16_t type;
    uint16_t flags;
    uint32_t sequence;
    uint32_t port;
};

struct link {
    uint8_t family;
    uint8_t padding;
    uint16_t type;
    int32_t index;
    uint32_t flags;
    uint32_t change;
};

struct attribute {
    uint16_t bytes;
    uint16_t type;
};

/* A message that grows; all of its parts have a multiple of four bytes. */
struct message {
    size_t bytes;
    union {
        struct message_header header;
        uint8_t data[256];
    };
};

static size_t add(struct message *message, const void *data, size_t bytes)
{
    const size_t at = message->bytes;
    if (data != NULL) {
        memcpy(message->data + at, data, bytes);
    }
    message->bytes += (bytes + 3) & ~(size_t)3;
    return at;
}

/* Returns where it lies, for end_attribute: what is added until then lies in it. */
static size_t begin_attribute(struct message *message, uint16_t type)
{
    const struct attribute attribute = {.type = type};
    return add(message, &attribute, sizeof attribute);
}

static void end_attribute(struct message *message, size_t at)
{
    const uint16_t bytes = (uint16_t)(message->bytes - at);
    memcpy(message->data + at, &bytes, sizeof bytes);
}

static void add_text(struct message *message, uint16_t type, const char *text)
{
    const struct attribute attribute = {.bytes = (uint16_t)(sizeof attribute + strlen(text) + 1), .type = type};
    add(message, &attribute, sizeof attribute);
    add(message, text, strlen(text) + 1);
}

/* Both ends, down: one that is up without the other is refused. */
static struct message pair_wanted(void)
{
    static const struct link down = {.flags = 0};
    struct message message = {.bytes = 0};
    add(&message, NULL, sizeof message.header);
    add(&message, &down, sizeof down);
    add_text(&message, LINK_NAME, here);
    const size_t info = begin_attribute(&message, LINK_INFO);
    add_text(&message, INFO_KIND, "veth");
    const size_t data = begin_attribute(&message, INFO_DATA);
    const size_t peer = begin_attribute(&message, VETH_PEER);
    add(&message, &down, sizeof down);
    add_text(&message, LINK_NAME, there);
    end_attribute(&message, peer);
    end_attribute(&message, data);
    end_attribute(&message, info);
    message.header = (struct message_header){
        .bytes = (uint32_t)message.bytes, .type = NEW_LINK, .flags = REQUEST | ACK | EXCLUSIVE | CREATE};
    return message;
}

/* What the kernel answers: an error of 0 is its consent. */
static enum os_status ask(int route, const struct message *wanted)
{
    struct {
        struct message_header header;
        int32_t error;
        uint8_t request[sizeof(struct message)];
    } answer = {.header = {.type = 0}};
    if (send(route, wanted->data, wanted->bytes, 0) < 0 || recv(route, &answer, sizeof answer, 0) < 0) {
        return os_status_from_errno(errno);
    }
    if (answer.header.type != ERROR_MESSAGE) {
        return OS_FAILED;
    }
    return answer.error == -EOPNOTSUPP ? OS_UNSUPPORTED : os_status_from_errno(-answer.error);
}

static enum os_status bring_up(int socket, const char *name)
{
    struct ifreq device = {.ifr_flags = IFF_UP};
    memcpy(device.ifr_name, name, strlen(name));
    return ioctl(socket, SIOCSIFFLAGS, &device) == 0 ? OS_OK : os_status_from_errno(errno);
}

/* Root may have a network of its own; others where the system lets them be root in a namespace of their own. */
static enum os_status leave_network(void)
{
    if (unshare(CLONE_NEWNET) == 0 || (errno == EPERM && unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0)) {
        return OS_OK;
    }
    return errno == EINVAL || errno == ENOSPC ? OS_UNSUPPORTED : os_status_from_errno(errno);
}

enum os_status os_packets_prepare(void)
{
    const struct message wanted = pair_wanted();
    enum os_status status = leave_network();
    if (status != OS_OK) {
        return status;
    }
    const int route = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, ROUTE);
    if (route < 0) {
        return os_status_from_errno(errno);
    }
    status = ask(route, &wanted);
    if (status == OS_OK) {
        status = bring_up(route, here);
    }
    if (status == OS_OK) {
        status = bring_up(route, there);
    }
    close(route);
    return status;
}

enum os_status os_packets_open(struct os_packets *packets)
{
    const int made = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* 0: it receives nothing */
    if (made < 0) {
        return os_status_from_errno(errno);
    }
    const struct sockaddr_ll device = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(here)};
    if (device.sll_ifindex == 0 || bind(made, (const struct sockaddr *)&device, sizeof device) != 0) {
        const enum os_status status = os_status_from_errno(errno);
        close(made);
        return status;
    }
    packets->handle = made;
    enum os_status status = os_packets_send(*packets);
    for (int i = 0; i < UP_TRIES && status == OS_UNREACHABLE; i++) { /* the wire is there a moment after both ends */
        os_sleep_until(os_now_ns() + TRY_AGAIN_NS);
        status = os_packets_send(*packets);
    }
    if (status != OS_OK) {
        os_packets_close(*packets);
    }
    return status;
}

void os_packets_close(struct os_packets packets)
{
    close((int)packets.handle);
}

enum os_status os_packets_send(struct os_packets packets)
{
    static const uint8_t frame[FRAME_BYTES] = {
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* to all */
        [2 * ADDRESS_BYTES] = LOCAL_EXPERIMENT >> 8,
        LOCAL_EXPERIMENT & 0xff,
    };
    return send((int)packets.handle, frame, sizeof frame, 0) == sizeof frame ? OS_OK : os_status_from_errno(errno);
}
