#ifndef TAUTO_POSIX_STATUS_H
#define TAUTO_POSIX_STATUS_H

#include "os/os.h"

enum os_status os_status_from_errno(int error);

#endif
