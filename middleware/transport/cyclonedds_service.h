#ifndef TAUTO_CYCLONEDDS_SERVICE_H
#define TAUTO_CYCLONEDDS_SERVICE_H

#include "transport.h"

/* As in struct transport. */
enum os_status cyclonedds_serve(struct service *service);
void cyclonedds_end_service(void);

#endif
