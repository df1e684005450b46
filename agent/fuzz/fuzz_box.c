/* A request that the lab put into a guest's mailbox: its header and commands, with the words of programs. */
#include "fuzz.h"

#include "guest/box.h"
#include "guest/order.h"
#include "os/mailbox_memory.h"

#include <stdlib.h>
#include <string.h>

enum os_status __wrap_os_mailbox_call(struct os_mailbox *mailbox);

enum { HEADER_BYTES = 24, REQUEST_AT = BOX_BYTES / 2 }; /* docs/guest.md */

static const uint8_t *request;
static size_t request_bytes;

/* The lab's answer: the first bytes are the header, the rest the request. */
enum os_status __wrap_os_mailbox_call(struct os_mailbox *mailbox)
{
    const size_t head = request_bytes < HEADER_BYTES ? request_bytes : HEADER_BYTES;
    const size_t rest = request_bytes - head < BOX_BYTES / 2 ? request_bytes - head : BOX_BYTES / 2;
    os_mailbox_store(mailbox, 0, request, head);
    os_mailbox_store(mailbox, REQUEST_AT, request + head, rest);
    return OS_OK;
}

static void read_order(const struct box *box, const struct box_command *command)
{
    struct order order;
    if (order_read(&order, box, command)) {
        size_t words = 0;
        for (char **word = order.argv; *word != NULL; word++) {
            words += strlen(*word) + 1;
        }
        if (words > command->payload_bytes) {
            abort();
        }
        order_free(&order);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct os_mailbox mailbox;
    struct box box = {.mailbox = &mailbox};
    struct box_command command;
    bool broken = false;
    if (mailbox.memory == NULL) {
        mailbox.memory = aligned_alloc(sizeof(uint64_t), BOX_BYTES);
    }
    if (mailbox.memory == NULL) {
        abort();
    }
    request = data;
    request_bytes = size;
    if (!box_call(&box)) {
        return 0;
    }
    while (box_next(&box, &command, &broken)) {
        read_order(&box, &command);
    }
    return 0;
}
