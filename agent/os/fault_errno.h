#ifndef TAUTO_FAULT_ERRNO_H
#define TAUTO_FAULT_ERRNO_H

#include "os/fault.h"

enum os_fault os_fault_from_errno(int error);

#endif
