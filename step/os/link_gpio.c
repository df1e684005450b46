/*
 * Two lines of a GPIO chip, by its character device (the kernel's second interface of it): a message is an edge on the line
 * that is driven, and so is its answer on the other one. The kernel tells when an edge came, in its interrupt handler. An
 * edge has a direction and nothing else, so that one message at a time is under way: a late answer is told by its direction.
 */
#define _GNU_SOURCE
#include "link.h"

#include "format.h"
#include "os/posix/status.h"
#include "quantity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PATH_BYTES = LINK_PLACE_BYTES + 8 };

static bool read_line(const char **text, uint32_t *line)
{
    int64_t value = 0;
    const char *digits = *text + 1;
    if (**text != ':' || !quantity_digits(&digits, digits + strlen(digits), "", &value) || value > UINT16_MAX) {
        return false;
    }
    *line = (uint32_t)value;
    *text = digits;
    return true;
}

static bool read_address(struct link_address *address, const char *text)
{
    const size_t length = strcspn(text, ":");
    if (length == 0 || length >= sizeof address->place || memchr(text, '/', length) != NULL) {
        return false;
    }
    memcpy(address->place, text, length);
    address->place[length] = '\0';
    const char *rest = text + length;
    return read_line(&rest, &address->out) && read_line(&rest, &address->back) && *rest == '\0' &&
           address->out != address->back;
}

/* A line as a file of its own; -1: errno says why not. */
static int ask_for_line(int chip, uint32_t line, uint64_t flags)
{
    struct gpio_v2_line_request request = {.offsets = {line}, .num_lines = 1, .consumer = "tautochrone"};
    request.config.flags = flags;
    return ioctl(chip, GPIO_V2_GET_LINE_IOCTL, &request) == 0 ? request.fd : -1;
}

static enum os_status refused(const char **why)
{
    switch (errno) {
    case EBUSY:
        *why = "another program, or a driver, uses this line";
        return OS_BUSY;
    case EINVAL:
        *why = "the chip has no such line (`gpioinfo` lists them)";
        return OS_INVALID;
    case ENXIO:
    case EOPNOTSUPP:
        *why = "this line can't tell of edges: it has no interrupt";
        return OS_UNSUPPORTED;
    default:
        return os_status_from_errno(errno);
    }
}

static enum os_status open_gpio(struct link *link, const char **why)
{
    char path[PATH_BYTES];
    format_text(path, sizeof path, "/dev/%s", link->address.place);
    const int chip = open(path, O_RDWR | O_CLOEXEC);
    if (chip < 0) {
        *why = errno == ENOENT ? "there is no such chip (`gpiodetect` lists those that there are)" : NULL;
        return os_status_from_errno(errno);
    }
    enum os_status status = OS_OK;
    link->out_file = ask_for_line(chip, link->address.out, GPIO_V2_LINE_FLAG_OUTPUT);
    if (link->out_file >= 0) {
        link->file = ask_for_line(chip, link->address.back,
                                  GPIO_V2_LINE_FLAG_INPUT | GPIO_V2_LINE_FLAG_EDGE_RISING | GPIO_V2_LINE_FLAG_EDGE_FALLING);
    }
    if (link->out_file < 0 || link->file < 0 || fcntl(link->file, F_SETFL, O_NONBLOCK) != 0) {
        status = refused(why);
    }
    close(chip);
    link->values_limit = 0;
    link->is_single = true;
    link->is_stamped = true;
    return status;
}

/* The loop's next message is the other level; an answer is the level of what it answers. */
static enum os_status send_edge(struct link *link, const struct link_message *message)
{
    (void)message;
    link->level = link->side == LINK_LOOP ? !link->level : link->level;
    struct gpio_v2_line_values values = {.bits = link->level, .mask = 1};
    return ioctl(link->out_file, GPIO_V2_LINE_SET_VALUES_IOCTL, &values) == 0 ? OS_OK : os_status_from_errno(errno);
}

static int64_t take(struct link *link, void *data, size_t most, int64_t *received_ns)
{
    struct gpio_v2_line_event event;
    const ssize_t got = read(link->file, &event, sizeof event);
    if (got == (ssize_t)sizeof event && most >= sizeof event) {
        memcpy(data, &event, sizeof event);
        *received_ns = (int64_t)event.timestamp_ns; /* of the monotonic clock, as is the measuring one */
    }
    return got;
}

static bool decode(struct link *link, const unsigned char *data, size_t bytes, struct link_message *message)
{
    struct gpio_v2_line_event event;
    if (bytes != sizeof event) {
        return false;
    }
    memcpy(&event, data, sizeof event);
    const uint8_t level = event.id == GPIO_V2_LINE_EVENT_RISING_EDGE;
    if (link->side == LINK_PEER) {
        link->level = level;
        message->sequence = event.line_seqno - 1U;
    } else {
        message->sequence = level == link->level ? link->last : link->before_last;
    }
    message->release = 0;
    message->send_ns = 0;
    message->count = 0;
    return true;
}

const struct link_kind link_of_gpio = {
    .name = "gpio",
    .form = "gpio:CHIP:OUT:IN, the numbers of two lines: gpio:gpiochip0:17:27",
    .read = read_address,
    .open = open_gpio,
    .send = send_edge,
    .take = take,
    .decode = decode,
};
