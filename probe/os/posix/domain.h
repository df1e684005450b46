/* What a port with a real-time domain of its own beside POSIX says and does otherwise (domain.c: there is none). */
#ifndef TAUTO_POSIX_DOMAIN_H
#define TAUTO_POSIX_DOMAIN_H

#include "os/ordinary.h"

/* False: a service is here as POSIX has it. */
bool domain_answers(enum os_service service, struct os_answer *answer);
/* The real-time core and its version, for os_facts_read; empty where there is none. */
void domain_facts_read(struct os_facts *facts);

#endif
