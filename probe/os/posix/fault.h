#ifndef TAUTO_POSIX_FAULT_H
#define TAUTO_POSIX_FAULT_H

#include "os/fault.h"

enum os_fault os_fault_from_errno(int error);

#endif
