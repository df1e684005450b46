/* A datagram for each message: docs/hil.md has its layout. An answer has the same one, so that whoever sends back what it
 * gets is a peer. */
#define _GNU_SOURCE
#include "bytes.h"
#include "link.h"

#include "os/network.h"
#include "os/posix/network_address.h"
#include "quantity.h"

#include <errno.h>
#include <string.h>

enum { HEAD_BYTES = 32, VERSION = 1, WORD_BYTES = 8, HIGHEST_PORT = 65535 };
enum { AT_VERSION = 4, AT_COUNT = 6, AT_SEQUENCE = 8, AT_RELEASE = 16, AT_SENT = 24 };
static const char magic[4] = {'T', 'S', 'T', 'P'};

static bool read_address(struct link_address *address, const char *text)
{
    const char *const colon = strrchr(text, ':');
    if (colon == NULL) {
        return false;
    }
    const bool is_bracketed = text[0] == '[' && colon > text && colon[-1] == ']';
    const char *const host = text + is_bracketed;
    const size_t length = (size_t)(colon - host) - is_bracketed;
    const char *digits = colon + 1;
    int64_t port = 0;
    if (length >= sizeof address->place || !quantity_digits(&digits, digits + strlen(digits), "", &port) || *digits != '\0' ||
        port < 1 || port > HIGHEST_PORT) {
        return false;
    }
    memcpy(address->place, host, length);
    address->place[length] = '\0';
    address->out = (uint32_t)port;
    return os_network_is_address(address->place);
}

static enum os_status open_peer(struct link *link)
{
    union network_address address;
    const socklen_t length = network_address_read(link->address.place, (uint16_t)link->address.out, &address);
    link->file = socket(address.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return link->file < 0 || bind(link->file, &address.any, length) != 0 ? network_status(errno) : OS_OK;
}

static enum os_status open_udp(struct link *link, const char **why)
{
    if (link->side == LINK_PEER) {
        const enum os_status status = open_peer(link);
        *why = status == OS_UNREACHABLE ? "it is not an address of this machine" : NULL;
        return status;
    }
    struct os_socket made;
    const enum os_status status = os_datagram_open(&made, link->address.place, (uint16_t)link->address.out);
    link->file = (int)made.handle;
    *why = status == OS_UNREACHABLE ? "no interface of this machine leads to it" : NULL;
    return status;
}

static enum os_status send_datagram(struct link *link, const struct link_message *message)
{
    unsigned char data[HEAD_BYTES + LINK_VALUES_LIMIT * WORD_BYTES];
    memcpy(data, magic, sizeof magic);
    put_bytes(data + AT_VERSION, VERSION, 2);
    put_bytes(data + AT_COUNT, message->count, 2);
    put_bytes(data + AT_SEQUENCE, message->sequence, WORD_BYTES);
    put_bytes(data + AT_RELEASE, message->release, WORD_BYTES);
    put_bytes(data + AT_SENT, (uint64_t)message->send_ns, WORD_BYTES);
    put_doubles(data + HEAD_BYTES, message->values, message->count);
    const size_t bytes = HEAD_BYTES + (size_t)message->count * WORD_BYTES;
    const void *const to = link->side == LINK_PEER ? link->sender : NULL;
    const socklen_t to_bytes = link->side == LINK_PEER ? link->sender_bytes : 0;
    const ssize_t sent = sendto(link->file, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT, to, to_bytes);
    if (sent < 0 && errno == ECONNREFUSED) { /* an earlier one found nobody there; this one was not sent yet */
        return sendto(link->file, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT, to, to_bytes) < 0 ? network_status(errno) : OS_OK;
    }
    return sent < 0 ? network_status(errno) : OS_OK;
}

static bool decode(struct link *link, const unsigned char *data, size_t bytes, struct link_message *message)
{
    (void)link;
    if (bytes < HEAD_BYTES || memcmp(data, magic, sizeof magic) != 0 || get_bytes(data + AT_VERSION, 2) != VERSION) {
        return false;
    }
    message->count = (uint32_t)get_bytes(data + AT_COUNT, 2);
    message->sequence = get_bytes(data + AT_SEQUENCE, WORD_BYTES);
    message->release = get_bytes(data + AT_RELEASE, WORD_BYTES);
    message->send_ns = (int64_t)get_bytes(data + AT_SENT, WORD_BYTES);
    if (message->count > LINK_VALUES_LIMIT || bytes != HEAD_BYTES + (size_t)message->count * WORD_BYTES) {
        return false;
    }
    get_doubles(data + HEAD_BYTES, message->values, message->count);
    return true;
}

const struct link_kind link_of_udp = {
    .name = "udp",
    .form = "udp:HOST:PORT, the host in numbers: udp:192.168.1.20:9000, udp:[::1]:9000",
    .read = read_address,
    .open = open_udp,
    .send = send_datagram,
    .decode = decode,
};
