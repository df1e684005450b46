/* What the links share: recvmsg(2) with the kernel's time stamps (SO_TIMESTAMPNS), and poll(2). */
#define _GNU_SOURCE
#include "link.h"

#include "os/posix/network_address.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000, WITHOUT_A_PAUSE_NS = 2000, TRIES = 100, LARGEST_BYTES = 2048 };
enum { ROOM_BYTES = 1 << 20, SET_NS = 200000 }; /* further apart between two messages than any clock is slewed */

static const struct link_kind *const kinds[] = {&link_of_udp, &link_of_can, &link_of_gpio};

bool link_read(struct link_address *address, const char *text, const char **form)
{
    *form = "udp:HOST:PORT, can:INTERFACE or gpio:CHIP:OUT:IN";
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const size_t length = strlen(kinds[i]->name);
        if (strncmp(text, kinds[i]->name, length) == 0 && text[length] == ':') {
            *address = (struct link_address){.kind = kinds[i]};
            *form = kinds[i]->form;
            return kinds[i]->read(address, text + length + 1);
        }
    }
    return false;
}

/* The two clocks, read one after the other; a reading with a pause between them tells nothing. */
static bool relate_clocks(struct link *link)
{
    struct timespec wall;
    const int64_t before_ns = os_now_ns();
    (void)clock_gettime(CLOCK_REALTIME, &wall);
    const int64_t after_ns = os_now_ns();
    if (after_ns - before_ns > WITHOUT_A_PAUSE_NS) {
        return false;
    }
    link->wall_less_ns = (int64_t)wall.tv_sec * NS_PER_S + wall.tv_nsec - before_ns - (after_ns - before_ns) / 2;
    return true;
}

static void prepare_socket(struct link *link)
{
    const int on = 1;
    const int room = ROOM_BYTES;
    (void)setsockopt(link->file, SOL_SOCKET, SO_RCVBUF, &room, sizeof room); /* as much of it as is permitted */
    link->is_stamped = setsockopt(link->file, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0;
    for (int i = 0; i < TRIES && link->is_stamped && link->wall_less_ns == 0; i++) {
        (void)relate_clocks(link);
    }
    link->is_stamped = link->wall_less_ns != 0;
}

enum os_status link_open(struct link *link, const struct link_address *address, enum link_side side, const char **why)
{
    *link = (struct link){.address = *address, .side = side, .file = -1, .out_file = -1, .values_limit = LINK_VALUES_LIMIT,
                           .last = UINT64_MAX};
    *why = NULL;
    const enum os_status status = address->kind->open(link, why);
    if (status != OS_OK) {
        link_close(link);
        return status;
    }
    if (address->kind->take == NULL) {
        prepare_socket(link);
    }
    return OS_OK;
}

void link_close(struct link *link)
{
    if (link->file >= 0) {
        close(link->file);
        link->file = -1;
    }
    if (link->out_file >= 0) {
        close(link->out_file);
        link->out_file = -1;
    }
}

enum os_status link_send(struct link *link, const struct link_message *message)
{
    link->before_last = link->last;
    link->last = message->sequence;
    return link->address.kind->send(link, message);
}

/* The kernel's time stamp by the measuring clock. Where the wall clock was set meanwhile it tells nothing: then it is when the
 * message was taken. */
static int64_t arrival_ns(struct link *link, struct msghdr *header)
{
    const int64_t wall_less_ns = link->wall_less_ns;
    if (link->is_stamped) {
        (void)relate_clocks(link);
    }
    if (link->is_stamped && llabs(link->wall_less_ns - wall_less_ns) < SET_NS) {
        for (struct cmsghdr *one = CMSG_FIRSTHDR(header); one != NULL; one = CMSG_NXTHDR(header, one)) {
            if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_TIMESTAMPNS) {
                struct timespec wall;
                memcpy(&wall, CMSG_DATA(one), sizeof wall);
                const int64_t stamp_ns = (int64_t)wall.tv_sec * NS_PER_S + wall.tv_nsec - link->wall_less_ns;
                const int64_t now_ns = os_now_ns();
                return stamp_ns < now_ns ? stamp_ns : now_ns;
            }
        }
    }
    return os_now_ns();
}

static int64_t take_from_socket(struct link *link, void *data, size_t most, int64_t *received_ns)
{
    union {
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
        struct cmsghdr aligned;
    } control;
    struct iovec part = {.iov_base = data, .iov_len = most};
    struct msghdr header = {
        .msg_name = link->sender,
        .msg_namelen = sizeof link->sender,
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    ssize_t got = -1;
    do {
        got = recvmsg(link->file, &header, MSG_DONTWAIT);
    } while (got < 0 && (errno == ECONNREFUSED || errno == EINTR)); /* that nobody is there yet is told, not received */
    if (got >= 0) {
        link->sender_bytes = header.msg_namelen;
        *received_ns = arrival_ns(link, &header);
    }
    return got;
}

enum os_status link_receive(struct link *link, struct link_message *message, int64_t *received_ns)
{
    _Alignas(8) unsigned char data[LARGEST_BYTES];
    const struct link_kind *const kind = link->address.kind;
    const int64_t got = kind->take != NULL ? kind->take(link, data, sizeof data, received_ns)
                                           : take_from_socket(link, data, sizeof data, received_ns);
    if (got < 0) {
        return network_status(errno);
    }
    return link->address.kind->decode(link, data, (size_t)got, message) ? OS_OK : OS_INVALID;
}

void link_wait(const struct link *link, int64_t most_ns)
{
    struct pollfd file = {.fd = link->file, .events = POLLIN};
    (void)poll(&file, 1, (int)(most_ns / NS_PER_MS) + 1);
}
