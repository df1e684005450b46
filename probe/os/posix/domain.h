/* Whether this system can take a thread out of a real-time domain, and tells (domain.c; a port with two domains has its
 * own). */
#ifndef TAUTO_POSIX_DOMAIN_H
#define TAUTO_POSIX_DOMAIN_H

#include "os/ordinary.h"

struct os_answer domain_inband_switches(void);

#endif
