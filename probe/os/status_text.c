#include "os/both.h"

const char *os_status_text(enum os_status status)
{
    switch (status) {
    case OS_OK:
        return "done";
    case OS_NOT_PERMITTED:
        return "not permitted";
    case OS_UNSUPPORTED:
        return "this system has no such service";
    case OS_INVALID:
        return "the system does not take this value";
    case OS_NO_MEMORY:
        return "memory or another resource is used up";
    case OS_TIMED_OUT:
        return "timed out";
    case OS_INTERRUPTED:
        return "interrupted";
    case OS_EXISTS:
        return "it exists already";
    case OS_NOT_FOUND:
        return "no such file or folder";
    case OS_IS_FOLDER:
        return "it is a folder";
    case OS_IS_LINK:
        return "it is a link: name the file itself";
    case OS_IS_DEVICE:
        return "it is a disk or a socket";
    case OS_OF_OTHERS:
        return "it belongs to another user, or has other names too";
    case OS_NO_SPACE:
        return "no space is left there";
    case OS_BUSY:
        return "the system has promised the rest to others";
    case OS_REFUSED:
        return "nobody listens there";
    case OS_CLOSED:
        return "the other side ended the connection";
    case OS_UNREACHABLE:
        return "there is no way to that address, or it is not one of this machine";
    case OS_IN_USE:
        return "another program has this address and port";
    case OS_FAILED:
        break;
    }
    return "the system refused";
}
