/*
 * A DDS domain of this process's own, and a participant in it. Nothing of it comes from the environment: whoever has
 * CYCLONEDDS_URI set measures the same. Everything is unicast; no group is joined, and who has another tag is not
 * heard, so that neither other DDS programs nor another server of ours on the same machine takes part.
 */
#ifndef TAUTO_CYCLONEDDS_DOMAIN_H
#define TAUTO_CYCLONEDDS_DOMAIN_H

#include "os/os.h"

#include <dds/dds.h>

enum { DOMAIN_ADDRESS_BYTES = 64, DOMAIN_TAG_BYTES = 48 };

/* Where a server is found, and what it is called. */
struct domain_place {
    char address[DOMAIN_ADDRESS_BYTES]; /* a number: 10.0.0.2, ::1 */
    uint16_t port;                      /* of its discovery */
    char tag[DOMAIN_TAG_BYTES];
};

struct domain {
    dds_entity_t domain;
    dds_entity_t participant;
};

/* Opens a domain that can be found: fills in port and tag. `housekeeping`: of the library's own threads that are on the
 * way of a sample. */
enum os_status domain_offer(struct domain *domain, struct domain_place *place,
                            const struct os_thread_attributes *housekeeping);
/* Opens a domain that looks for that one. */
enum os_status domain_join(struct domain *domain, const struct domain_place *place,
                           const struct os_thread_attributes *housekeeping);
void domain_close(struct domain *domain);

/* Has the system of this place said that nobody listens there any more? Where it says nothing: false. Waits a moment. */
bool domain_is_deserted(const struct domain_place *place);

/* What the library's result says; OS_OK for what is no failure. */
enum os_status domain_status(dds_return_t result);

#endif
