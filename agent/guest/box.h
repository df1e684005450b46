/*
 * The box: how requests of the lab and events for it lie in the mailbox. docs/guest.md has the layout. What the lab
 * wrote is checked here and nowhere trusted.
 */
#ifndef TAUTO_GUEST_BOX_H
#define TAUTO_GUEST_BOX_H

#include "os/mailbox.h"
#include "text.h"

enum { BOX_BYTES = 8 * 1024 * 1024 };

enum box_operation { BOX_START = 1, BOX_WRITE, BOX_CLOSE, BOX_SIGNAL, BOX_RUN, BOX_OFF };
enum box_event { BOX_OUTPUT = 1, BOX_ERROR, BOX_EXIT, BOX_REFUSED, BOX_BOOT };

struct box {
    struct os_mailbox *mailbox;
    size_t reply_bytes;
    size_t request_bytes;
    size_t request_read;
};

struct box_command {
    enum box_operation operation;
    uint32_t program;
    size_t payload_bytes;
    size_t payload_at; /* in the mailbox */
};

/* The largest payload that one more event may have; 0: none fits, not even an empty one. */
size_t box_room(const struct box *box);
/* It fits. */
void box_add(struct box *box, enum box_event event, uint32_t program, const void *payload, size_t bytes);
/* Gives the lab all events that were added and takes its next request. False: that one is broken, or nobody is there;
 * it was said. */
bool box_call(struct box *box);
/* The next command of the request. False: there is none, or `broken`. */
bool box_next(struct box *box, struct box_command *command, bool *broken);
bool box_is_at_end(const struct box *box);
/* Adds the payload to what is there. */
bool box_payload(const struct box *box, const struct box_command *command, struct text *payload);

/* Says "tauto-agent: " and the text on the console. Always false. */
__attribute__((format(printf, 1, 2))) bool fault(const char *format, ...);

#endif
