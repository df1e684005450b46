/*
 * The connection beside the one that is measured: a TCP connection on which client and server agree, in lines of text.
 * Who listens is told the other's address: a server of its own connects to its client, a server elsewhere is connected to.
 *
 * The server begins, and says everything that a client needs to know:
 *
 *   tautochrone-middleware 1 VERSION TRANSPORT
 *   clock IDENTITY                              os_clock_identity
 *   servant N POLICY PRIORITY CPU ENDPOINT      what was requested; CPU is "any" or a number
 *   ready
 *
 * Afterwards the client asks, a word a line, and each answer ends with the line "end":
 *
 *   threads   thread N NUMBER POLICY PRIORITY CPU TIMER_SLACK_NS    of each servant, read back; NUMBER 0: none served
 *   served    served N TWO_WAY ONE_WAY                              how many requests so far
 *   memory    memory NAME NUMBER, a line each                       of the server's process: bytes, and its threads;
 *                                                                   "unknown" where the system can't tell
 *
 * A servant that can't go on is told of in any answer: "failed N WHY".
 */
#ifndef TAUTO_CONTROL_H
#define TAUTO_CONTROL_H

#include "os/network.h"

enum { CONTROL_LINE_BYTES = 1024, HOST_BYTES = 64 };

struct control {
    struct os_socket socket;
    char buffer[CONTROL_LINE_BYTES];
    size_t begin; /* of what was received and not handed out yet */
    size_t end;
};

/* "127.0.0.1:4711", "[::1]:4711". False: it is not written so, or the host is no number. */
bool control_address_read(const char *text, char host[HOST_BYTES], uint16_t *port);
void control_address_write(char *text, size_t bytes, const char *host, uint16_t port);

/* Where the other side may come to; `address` is its text. Port 0: a free one. */
enum os_status control_listen(struct os_socket *listening, const char *host, uint16_t port, char *address, size_t bytes);
/* Goes to where the other side listens, and is ready for lines. OS_INVALID: that is no address. */
enum os_status control_connect(struct control *control, const char *address, int64_t patience_ns);
/* Ready for lines; `socket` is the control's from now on. */
void control_begin(struct control *control, struct os_socket socket);
void control_end(struct control *control);

/* A line, with its end added here. */
__attribute__((format(printf, 2, 3))) enum os_status control_say(struct control *control, const char *format, ...);
/* The next line, without its end, until the next call. OS_TIMED_OUT; OS_CLOSED: the other side has gone; OS_INVALID: a
 * line is too long. OS_INTERRUPTED: asked to stop. */
enum os_status control_hear(struct control *control, int64_t timeout_ns, char **line);
/* Has the other side gone? Does not wait, and takes nothing that was said. */
bool control_is_over(struct control *control);

/* The next word of a line, ending with NUL; `line` is moved behind it. "" where there is none. */
char *control_word(char **line);
/* A word as a number. False: it is none. */
bool control_number(const char *word, int64_t *number);

#endif
