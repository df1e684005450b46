/* What carries the outputs of a step out and its inputs in. No call waits, but link_wait. */
#ifndef TAUTO_STEP_LINK_H
#define TAUTO_STEP_LINK_H

#include "os/os.h"

#include <stddef.h>

enum { LINK_VALUES_LIMIT = 64, LINK_PLACE_BYTES = 64 };

/* One message, whichever link carries it: docs/hil.md has the layouts. An answer repeats the first two. */
struct link_message {
    uint64_t sequence; /* of the step that sent it, from 0 on */
    uint64_t release;  /* which release that step served */
    int64_t send_ns;   /* when, by the clock of who sent it; a link without room for it carries none: 0 */
    uint32_t count;
    double values[LINK_VALUES_LIMIT];
};

/* Who opens a link: the loop that sends first, or the peer that answers. */
enum link_side { LINK_LOOP, LINK_PEER };

struct link_address {
    const struct link_kind *kind;
    char place[LINK_PLACE_BYTES]; /* the host, the interface, the chip */
    uint32_t out;                 /* the port; the identifier of what the loop sends; the line that is driven */
    uint32_t back;                /* the identifier of the answers; the line that is listened to */
};

struct link {
    struct link_address address;
    enum link_side side;
    int file;
    int out_file; /* where what goes out is another one; otherwise -1 */
    bool is_stamped;      /* the kernel says when a message arrived; otherwise that is when it was taken */
    int64_t wall_less_ns; /* wall-clock time minus the measuring clock, as last read without a pause between them */
    uint32_t values_limit; /* of one message */
    uint64_t last; /* the sequence that was sent last, UINT64_MAX: none; a link may carry a part of it only, */
    uint64_t before_last; /* and the one before */
    bool is_single; /* a message tells nothing but that it is there: only one at a time may be under way */
    uint8_t level;  /* of the line that is driven, or is to be */
    _Alignas(8) char sender[32]; /* of the last message: whom a peer answers */
    uint32_t sender_bytes;
};

struct link_kind {
    const char *name; /* "udp" */
    const char *form; /* how its address is written */
    bool (*read)(struct link_address *address, const char *text);
    /* A refusal's words in `why`, where the status does not tell enough. */
    enum os_status (*open)(struct link *link, const char **why);
    enum os_status (*send)(struct link *link, const struct link_message *message);
    /* What arrived next, at most `most` bytes, and when; as recvmsg(2). NULL: it is a socket. */
    int64_t (*take)(struct link *link, void *data, size_t most, int64_t *received_ns);
    /* What that is. False: it is no message of ours. */
    bool (*decode)(struct link *link, const unsigned char *data, size_t bytes, struct link_message *message);
};

extern const struct link_kind link_of_udp;
extern const struct link_kind link_of_can;
extern const struct link_kind link_of_gpio;

/* Reads udp:HOST:PORT, can:INTERFACE or gpio:CHIP:OUT:IN. False: it is none, and `form` says how it is written. */
bool link_read(struct link_address *address, const char *text, const char **form);
enum os_status link_open(struct link *link, const struct link_address *address, enum link_side side, const char **why);
void link_close(struct link *link);

/* OS_TIMED_OUT: there is no room for it now. Otherwise why it was not sent. */
enum os_status link_send(struct link *link, const struct link_message *message);
/* The next one that has arrived, and when it did, by the measuring clock. OS_TIMED_OUT: there is none. OS_INVALID: what
 * came is no message of ours. */
enum os_status link_receive(struct link *link, struct link_message *message, int64_t *received_ns);
/* Until something has arrived, at most so long. */
void link_wait(const struct link *link, int64_t most_ns);

#endif
