#include "cyclonedds_domain.h"

#include "format.h"
#include "text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Any number will do: what keeps domains apart is the tag. */
enum { DOMAIN_NUMBER = 117, PORT_ATTEMPTS = 8 };
enum { REFUSAL_MS = 50 }; /* there and back */
/* The library's threads have no more on their stacks than this; a locked stack is resident to its last page. */
static const uint32_t stack_bytes = 512 * 1024;
static const size_t opener_stack_bytes = (size_t)1024 * 1024;

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

enum os_status domain_status(dds_return_t result)
{
    if (result >= 0) {
        return OS_OK;
    }
    switch (result) {
    case DDS_RETCODE_TIMEOUT:
        return OS_TIMED_OUT;
    case DDS_RETCODE_OUT_OF_RESOURCES:
        return OS_NO_MEMORY;
    case DDS_RETCODE_ALREADY_DELETED:
        return OS_CLOSED;
    case DDS_RETCODE_UNSUPPORTED:
        return OS_UNSUPPORTED;
    default:
        return OS_FAILED;
    }
}

/* ---- Addresses and ports --------------------------------------------------- */

static bool is_six(const char *address)
{
    return strchr(address, ':') != NULL;
}

/* 0: it is no address. */
static socklen_t address_read(union address *address, const char *text, uint16_t port)
{
    *address = (union address){0};
    if (is_six(text)) {
        address->six.sin6_family = AF_INET6;
        address->six.sin6_port = htons(port);
        return inet_pton(AF_INET6, text, &address->six.sin6_addr) == 1 ? sizeof address->six : 0;
    }
    address->four.sin_family = AF_INET;
    address->four.sin_port = htons(port);
    return inet_pton(AF_INET, text, &address->four.sin_addr) == 1 ? sizeof address->four : 0;
}

/* A socket that has this port, or any (0); `port` becomes the one that it has. */
static int socket_at(const char *text, uint16_t *port)
{
    union address address;
    socklen_t bytes = address_read(&address, text, *port);
    const int made = bytes > 0 ? socket(address.any.sa_family, SOCK_DGRAM, 0) : -1;
    if (made < 0) {
        return -1;
    }
    if (bind(made, &address.any, bytes) != 0 || getsockname(made, &address.any, &bytes) != 0) {
        close(made);
        return -1;
    }
    *port = ntohs(is_six(text) ? address.six.sin6_port : address.four.sin_port);
    return made;
}

/* Two ports in a row that are free at this moment: discovery, and data. The library takes fixed ones or does not tell. */
static enum os_status find_ports(const char *address, uint16_t *port)
{
    for (int attempt = 0; attempt < PORT_ATTEMPTS; attempt++) {
        *port = 0;
        const int first = socket_at(address, port);
        if (first < 0) {
            return OS_UNREACHABLE;
        }
        uint16_t next = (uint16_t)(*port + 1);
        const int second = *port < UINT16_MAX ? socket_at(address, &next) : -1;
        close(first);
        if (second >= 0) {
            close(second);
            return OS_OK;
        }
    }
    return OS_IN_USE;
}

/* This machine's address on the way to another one. */
static enum os_status own_address(const char *peer, uint16_t port, char *own)
{
    union address address;
    socklen_t bytes = address_read(&address, peer, port);
    const int made = bytes > 0 ? socket(address.any.sa_family, SOCK_DGRAM, 0) : -1;
    if (made < 0) {
        return bytes > 0 ? OS_FAILED : OS_INVALID;
    }
    const bool known = connect(made, &address.any, bytes) == 0 && getsockname(made, &address.any, &bytes) == 0;
    close(made);
    const void *const number = is_six(peer) ? (const void *)&address.six.sin6_addr : (const void *)&address.four.sin_addr;
    return known && inet_ntop(address.any.sa_family, number, own, DOMAIN_ADDRESS_BYTES) != NULL ? OS_OK
                                                                                                : OS_UNREACHABLE;
}

bool domain_is_deserted(const struct domain_place *place)
{
    union address address;
    const socklen_t bytes = address_read(&address, place->address, place->port);
    const int made = bytes > 0 ? socket(address.any.sa_family, SOCK_DGRAM, 0) : -1;
    if (made < 0) {
        return false;
    }
    bool refused = false;
    /* An empty datagram, which the library passes over. */
    if (connect(made, &address.any, bytes) == 0 && send(made, "", 0, 0) == 0) {
        struct pollfd answer = {.fd = made};
        int error = 0;
        socklen_t error_bytes = sizeof error;
        refused = poll(&answer, 1, REFUSAL_MS) == 1 &&
                  getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &error_bytes) == 0 && error == ECONNREFUSED;
    }
    close(made);
    return refused;
}

/* ---- What the library is told ---------------------------------------------- */

struct wish {
    const char *address; /* own */
    uint16_t port;       /* of discovery; 0: any */
    const struct domain_place *peer; /* NULL: waits to be found */
    const char *tag;
    const struct os_thread_attributes *housekeeping;
};

/* Receiving, delivering, sending again: on the way of a sample. They get policy and priority here; FIFO by name, any
 * other policy from the thread that opens the domain, and all of them its CPU. Expiry and freeing are not on the way. */
static void add_threads(struct text *text, const struct os_thread_attributes *housekeeping)
{
    static const char *const on_the_way[] = {"recv", "tev", "dq.builtins", "dq.user"};
    static const char *const beside[] = {"gc", "lease"};

    text_add_string(text, "<Threads>");
    for (size_t i = 0; i < sizeof on_the_way / sizeof on_the_way[0]; i++) {
        text_format(text, "<Thread Name=\"%s\"><StackSize>%u B</StackSize>", on_the_way[i], stack_bytes);
        if (housekeeping->policy == OS_POLICY_FIFO) {
            text_format(text, "<Scheduling><Class>realtime</Class><Priority>%d</Priority></Scheduling>",
                        (int)os_priority_to_native(OS_POLICY_FIFO, housekeeping->below_highest));
        }
        text_add_string(text, "</Thread>");
    }
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        text_format(text,
                    "<Thread Name=\"%s\"><StackSize>%u B</StackSize><Scheduling><Class>timeshare</Class>"
                    "</Scheduling></Thread>",
                    beside[i], stack_bytes);
    }
    text_add_string(text, "</Threads>");
}

/* All else is as it comes, but for the end (describe): what is measured is what people get. */
static void add_discovery(struct text *text, const struct wish *wish)
{
    text_format(text, "<Discovery><Tag>%s</Tag>", wish->tag);
    if (wish->port != 0) {
        text_format(text,
                    "<ParticipantIndex>0</ParticipantIndex><Ports><Base>%u</Base><DomainGain>0</DomainGain>"
                    "<UnicastMetaOffset>0</UnicastMetaOffset><UnicastDataOffset>1</UnicastDataOffset></Ports>",
                    (unsigned)wish->port);
    } else {
        text_add_string(text, "<ParticipantIndex>none</ParticipantIndex>");
    }
    if (wish->peer != NULL) {
        const bool six = is_six(wish->peer->address);
        text_format(text, "<Peers><Peer Address=\"%s%s%s:%u\"/></Peers>", six ? "[" : "", wish->peer->address,
                    six ? "]" : "", (unsigned)wish->peer->port);
    }
    text_add_string(text, "</Discovery>");
}

static void describe(struct text *text, const struct wish *wish)
{
    text_format(text,
                "<CycloneDDS><Domain Id=\"any\"><General><Transport>%s</Transport><Interfaces>"
                "<NetworkInterface address=\"%s\"/></Interfaces><AllowMulticast>false</AllowMulticast></General>",
                is_six(wish->address) ? "udp6" : "udp", wish->address);
    add_threads(text, wish->housekeeping);
    add_discovery(text, wish);
    /* What is not acknowledged when a connection ends, nobody waits for: each would take a second where the server is
     * gone, one after the other. */
    text_add_string(text, "<Internal><WriterLingerDuration>0 s</WriterLingerDuration></Internal>"
                          "<Tracing><Verbosity>severe</Verbosity><OutputFile>stderr</OutputFile></Tracing>"
                          "</Domain></CycloneDDS>");
}

/* ---- Opening and closing ---------------------------------------------------- */

struct opening {
    struct domain domain;
    const char *description;
};

/* By a thread that has the attributes of housekeeping: its CPU goes over to the library's threads, which have no
 * option for that. */
static void open_here(void *argument)
{
    struct opening *const opening = argument;
    opening->domain.domain = dds_create_domain(DOMAIN_NUMBER, opening->description);
    if (opening->domain.domain > 0) {
        opening->domain.participant = dds_create_participant(DOMAIN_NUMBER, NULL, NULL);
    }
}

static enum os_status open_domain(struct domain *domain, const struct wish *wish)
{
    struct text text = {0};
    describe(&text, wish);
    if (text.out_of_memory) {
        text_free(&text);
        return OS_NO_MEMORY;
    }
    struct opening opening = {.description = text_string(&text)};
    struct os_thread_attributes attributes = *wish->housekeeping;
    attributes.name = "dds opening";
    attributes.stack_bytes = opener_stack_bytes;
    struct os_thread *thread = NULL;
    enum os_status status = os_thread_create(&thread, &attributes, open_here, &opening);
    if (status == OS_OK) {
        status = os_thread_join(thread);
    }
    text_free(&text);
    *domain = opening.domain;
    if (status == OS_OK) {
        status = domain_status(domain->domain);
    }
    if (status == OS_OK) {
        status = domain_status(domain->participant);
    }
    if (status != OS_OK) {
        domain_close(domain);
    }
    return status;
}

enum os_status domain_offer(struct domain *domain, struct domain_place *place,
                            const struct os_thread_attributes *housekeeping)
{
    enum os_status status = OS_FAILED;
    for (int attempt = 0; attempt < PORT_ATTEMPTS && status == OS_FAILED; attempt++) { /* somebody may take the port */
        status = find_ports(place->address, &place->port);
        if (status != OS_OK) {
            return status;
        }
        /* Nobody else has this port here, and had it at this instant. */
        format_text(place->tag, sizeof place->tag, "tautochrone_%lld_%u", (long long)os_wall_clock_ns(),
                    (unsigned)place->port);
        const struct wish wish = {.address = place->address,
                                  .port = place->port,
                                  .tag = place->tag,
                                  .housekeeping = housekeeping};
        status = open_domain(domain, &wish);
    }
    return status;
}

enum os_status domain_join(struct domain *domain, const struct domain_place *place,
                           const struct os_thread_attributes *housekeeping)
{
    char own[DOMAIN_ADDRESS_BYTES];
    const enum os_status status = own_address(place->address, place->port, own);
    if (status != OS_OK) {
        return status;
    }
    const struct wish wish = {.address = own, .peer = place, .tag = place->tag, .housekeeping = housekeeping};
    return open_domain(domain, &wish);
}

void domain_close(struct domain *domain)
{
    if (domain->domain > 0) {
        dds_delete(domain->domain); /* and all that is in it */
    }
    *domain = (struct domain){0};
}
