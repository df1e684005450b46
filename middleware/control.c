#include "control.h"

#include "format.h"

#include <stdlib.h>
#include <string.h>

static const int64_t ns_per_s = 1000000000;
enum { SEND_PATIENCE_S = 5, DECIMAL = 10, PORT_LIMIT = 65535 };

void control_begin(struct control *control, struct os_socket socket)
{
    *control = (struct control){.socket = socket};
}

void control_end(struct control *control)
{
    if (control->socket.handle != OS_NO_SOCKET) {
        os_network_close(&control->socket);
    }
}

bool control_number(const char *word, int64_t *number)
{
    char *end = NULL;
    *number = strtoll(word, &end, DECIMAL);
    return *word != '\0' && *end == '\0';
}

char *control_word(char **line)
{
    char *const begin = *line + strspn(*line, " ");
    char *const end = begin + strcspn(begin, " ");
    *line = *end == '\0' ? end : end + 1;
    *end = '\0';
    return begin;
}

bool control_address_read(const char *text, char host[HOST_BYTES], uint16_t *port)
{
    const char *const colon = strrchr(text, ':');
    int64_t number = 0;
    if (colon == NULL || !control_number(colon + 1, &number) || number < 1 || number > PORT_LIMIT) {
        return false;
    }
    const bool bracketed = *text == '[' && colon > text + 1 && colon[-1] == ']';
    const char *const begin = bracketed ? text + 1 : text;
    const size_t length = (size_t)(colon - begin) - (bracketed ? 1U : 0U);
    if (length == 0 || length >= HOST_BYTES) {
        return false;
    }
    memcpy(host, begin, length);
    host[length] = '\0';
    *port = (uint16_t)number;
    return os_network_is_address(host);
}

void control_address_write(char *text, size_t bytes, const char *host, uint16_t port)
{
    format_text(text, bytes, strchr(host, ':') != NULL ? "[%s]:%u" : "%s:%u", host, (unsigned)port);
}

enum os_status control_listen(struct os_socket *listening, const char *host, uint16_t port, char *address, size_t bytes)
{
    enum os_status status = os_network_listen(listening, host, port, 1);
    if (status != OS_OK) {
        return status;
    }
    status = os_network_port(*listening, &port);
    if (status != OS_OK) {
        os_network_close(listening);
        return status;
    }
    control_address_write(address, bytes, host, port);
    return OS_OK;
}

enum os_status control_connect(struct control *control, const char *address, int64_t patience_ns)
{
    char host[HOST_BYTES];
    uint16_t port = 0;
    struct os_socket socket;
    if (!control_address_read(address, host, &port)) {
        return OS_INVALID;
    }
    const enum os_status status = os_network_connect(&socket, host, port, patience_ns);
    if (status == OS_OK) {
        control_begin(control, socket);
    }
    return status;
}

enum os_status control_say(struct control *control, const char *format, ...)
{
    char line[CONTROL_LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    const size_t length = format_arguments(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length >= sizeof line - 1) {
        return OS_INVALID;
    }
    line[length] = '\n';
    for (size_t done = 0; done <= length;) {
        size_t sent = 0;
        const enum os_status status = os_network_send(control->socket, line + done, length + 1 - done,
                                                      SEND_PATIENCE_S * ns_per_s, &sent);
        if (status == OS_INTERRUPTED && os_stop_requested() == OS_STOP_NONE) {
            continue;
        }
        if (status != OS_OK) {
            return status;
        }
        done += sent;
    }
    return OS_OK;
}

/* What has come moves to the beginning, so that there is room behind it. */
static enum os_status hear_more(struct control *control, int64_t timeout_ns)
{
    memmove(control->buffer, control->buffer + control->begin, control->end - control->begin);
    control->end -= control->begin;
    control->begin = 0;
    if (control->end == sizeof control->buffer) {
        return OS_INVALID;
    }
    size_t received = 0;
    const enum os_status status = os_network_receive(control->socket, control->buffer + control->end,
                                                     sizeof control->buffer - control->end, timeout_ns, &received);
    control->end += received;
    return status;
}

enum os_status control_hear(struct control *control, int64_t timeout_ns, char **line)
{
    const int64_t late_ns = os_now_ns() + timeout_ns;
    for (;;) {
        char *const begin = control->buffer + control->begin;
        char *const newline = memchr(begin, '\n', control->end - control->begin);
        if (newline != NULL) {
            *newline = '\0';
            control->begin = (size_t)(newline + 1 - control->buffer);
            *line = begin;
            return OS_OK;
        }
        const int64_t left_ns = late_ns - os_now_ns();
        const enum os_status status = hear_more(control, left_ns > 0 ? left_ns : 0);
        const bool goes_on = status == OS_INTERRUPTED && os_stop_requested() == OS_STOP_NONE;
        if (status != OS_OK && !goes_on) {
            return status;
        }
    }
}

bool control_is_over(struct control *control)
{
    const enum os_status status = hear_more(control, 0);
    return status == OS_CLOSED || status == OS_FAILED;
}
