/* SocketCAN: one frame for each message, CAN FD where the interface has it; docs/hil.md has the layouts. */
#define _GNU_SOURCE
#include "bytes.h"
#include "link.h"

#include "os/posix/network_address.h"
#include "quantity.h"

#include <errno.h>
#include <linux/can.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { USUAL_OUT = 0x100, USUAL_BACK = 0x200, WORD_BYTES = 4, FD_HEAD_BYTES = 8, VALUE_BYTES = 8 };
enum { CLASSIC_VALUES = 1, FD_VALUES = 7 };

/* ":0x123" or ":291", then the end or the next one. */
static bool read_identifier(const char **text, uint32_t *identifier)
{
    char *end = NULL;
    if (**text == '\0') {
        return true;
    }
    const char *const digits = *text + 1;
    const unsigned long value = strtoul(digits, &end, 0);
    const bool is_read = **text == ':' && *digits >= '0' && *digits <= '9' && value <= CAN_EFF_MASK;
    *identifier = (uint32_t)value;
    *text = end;
    return is_read && (*end == '\0' || *end == ':');
}

static bool read_address(struct link_address *address, const char *text)
{
    const size_t length = strcspn(text, ":");
    if (length == 0 || length >= IFNAMSIZ) {
        return false;
    }
    memcpy(address->place, text, length);
    address->place[length] = '\0';
    address->out = USUAL_OUT;
    address->back = USUAL_BACK;
    const char *rest = text + length;
    return read_identifier(&rest, &address->out) && read_identifier(&rest, &address->back) && *rest == '\0' &&
           address->out != address->back;
}

static uint32_t on_the_bus(uint32_t identifier)
{
    return identifier > CAN_SFF_MASK ? identifier | CAN_EFF_FLAG : identifier;
}

/* The interface, what its frames are, and whether it is up. */
static enum os_status find_interface(const struct link *link, int *index, bool *is_fd, const char **why)
{
    struct ifreq asked = {0};
    memcpy(asked.ifr_name, link->address.place, strlen(link->address.place));
    if (ioctl(link->file, SIOCGIFINDEX, &asked) != 0) {
        *why = "there is no such interface (`ip link` lists those that there are)";
        return OS_NOT_FOUND;
    }
    *index = asked.ifr_ifindex;
    if (ioctl(link->file, SIOCGIFFLAGS, &asked) != 0 || (asked.ifr_flags & IFF_UP) == 0) {
        *why = "the interface is down (`ip link set INTERFACE up`)";
        return OS_UNREACHABLE;
    }
    *is_fd = ioctl(link->file, SIOCGIFMTU, &asked) == 0 && asked.ifr_mtu >= (int)CANFD_MTU;
    return OS_OK;
}

static enum os_status open_can(struct link *link, const char **why)
{
    struct sockaddr_can address = {.can_family = AF_CAN};
    bool is_fd = false;
    const int on = 1;
    link->file = socket(PF_CAN, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, CAN_RAW);
    if (link->file < 0) {
        const bool is_absent = errno == EAFNOSUPPORT || errno == EPROTONOSUPPORT;
        *why = is_absent ? "this kernel has no CAN, or its module can_raw is not loaded" : NULL;
        return is_absent ? OS_UNSUPPORTED : network_status(errno);
    }
    const enum os_status status = find_interface(link, &address.can_ifindex, &is_fd, why);
    if (status != OS_OK) {
        return status;
    }
    const struct can_filter wanted = {
        .can_id = on_the_bus(link->side == LINK_PEER ? link->address.out : link->address.back),
        .can_mask = CAN_EFF_MASK | CAN_EFF_FLAG | CAN_RTR_FLAG,
    };
    link->values_limit = is_fd ? FD_VALUES : CLASSIC_VALUES;
    if (setsockopt(link->file, SOL_CAN_RAW, CAN_RAW_FILTER, &wanted, sizeof wanted) != 0 ||
        (is_fd && setsockopt(link->file, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, &on, sizeof on) != 0) ||
        bind(link->file, (const struct sockaddr *)&address, sizeof address) != 0) {
        *why = errno == ENODEV ? "it is no CAN interface" : NULL;
        return network_status(errno);
    }
    return OS_OK;
}

/* A length that a frame of CAN FD can have. */
static uint8_t padded(size_t bytes)
{
    static const uint8_t lengths[] = {8, 12, 16, 20, 24, 32, 48, CANFD_MAX_DLEN};
    size_t at = 0;
    while (lengths[at] < bytes) {
        at++;
    }
    return lengths[at];
}

/* What fills a frame of CAN FD up is not a number that a program computes: all of its bits are set. */
enum { PADDING = 0xff };

static uint32_t count_without_padding(const struct canfd_frame *frame)
{
    unsigned char none[VALUE_BYTES];
    uint32_t count = (uint32_t)(frame->len - FD_HEAD_BYTES) / VALUE_BYTES;
    memset(none, PADDING, sizeof none);
    while (count > 0 && memcmp(frame->data + FD_HEAD_BYTES + (size_t)(count - 1) * VALUE_BYTES, none, sizeof none) == 0) {
        count--;
    }
    return count;
}

static enum os_status send_frame(struct link *link, const struct link_message *message)
{
    struct canfd_frame frame = {0};
    const bool is_fd = link->values_limit == FD_VALUES;
    const uint32_t count = message->count < link->values_limit ? message->count : link->values_limit;
    frame.can_id = on_the_bus(link->side == LINK_PEER ? link->address.back : link->address.out);
    put_bytes(frame.data, message->sequence, WORD_BYTES);
    if (is_fd) {
        put_bytes(frame.data + WORD_BYTES, message->release, WORD_BYTES);
        put_doubles(frame.data + FD_HEAD_BYTES, message->values, count);
        const size_t used = FD_HEAD_BYTES + (size_t)count * VALUE_BYTES;
        frame.len = padded(used);
        memset(frame.data + used, PADDING, frame.len - used);
    } else {
        const float value = count > 0 ? (float)message->values[0] : 0.0F;
        uint32_t bits = 0;
        memcpy(&bits, &value, sizeof bits);
        put_bytes(frame.data + WORD_BYTES, bits, WORD_BYTES);
        frame.len = CAN_MAX_DLEN;
    }
    const size_t bytes = is_fd ? CANFD_MTU : CAN_MTU;
    return send(link->file, &frame, bytes, MSG_DONTWAIT) == (ssize_t)bytes ? OS_OK : network_status(errno);
}

/* The upper half is that of the last message: an answer is younger than four billion messages. */
static uint64_t whole_sequence(uint64_t last, uint32_t lower)
{
    if (last == UINT64_MAX) {
        return lower;
    }
    const uint64_t sequence = (last & ~(uint64_t)UINT32_MAX) | lower;
    return sequence > last && sequence > UINT32_MAX ? sequence - UINT32_MAX - 1 : sequence;
}

static bool decode(struct link *link, const unsigned char *data, size_t bytes, struct link_message *message)
{
    struct canfd_frame frame;
    if (bytes > sizeof frame || bytes < CAN_MTU) {
        return false;
    }
    memcpy(&frame, data, bytes);
    const bool is_fd = bytes == CANFD_MTU;
    if (is_fd != (link->values_limit == FD_VALUES) || frame.len < CAN_MAX_DLEN || frame.len > CANFD_MAX_DLEN) {
        return false;
    }
    message->sequence = whole_sequence(link->last, (uint32_t)get_bytes(frame.data, WORD_BYTES));
    message->send_ns = 0;
    message->release = 0;
    if (is_fd) {
        message->release = get_bytes(frame.data + WORD_BYTES, WORD_BYTES);
        message->count = count_without_padding(&frame);
        get_doubles(frame.data + FD_HEAD_BYTES, message->values, message->count);
    } else {
        const uint32_t bits = (uint32_t)get_bytes(frame.data + WORD_BYTES, WORD_BYTES);
        float value = 0;
        memcpy(&value, &bits, sizeof value);
        message->count = CLASSIC_VALUES;
        message->values[0] = (double)value;
    }
    return true;
}

const struct link_kind link_of_can = {
    .name = "can",
    .form = "can:INTERFACE, can:INTERFACE:ID or can:INTERFACE:ID:ANSWER, two different identifiers: can:vcan0:0x100:0x200",
    .read = read_address,
    .open = open_can,
    .send = send_frame,
    .decode = decode,
};
