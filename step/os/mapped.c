/* mmap(2). */
#define _GNU_SOURCE
#include "mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *mapped_file_open(struct mapped_file *file, const char *path)
{
    struct stat found;
    const char *why = NULL;
    *file = (struct mapped_file){0};
    const int handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0) {
        return strerror(errno);
    }
    if (fstat(handle, &found) != 0) {
        why = strerror(errno);
    } else if (!S_ISREG(found.st_mode) || found.st_size <= 0) {
        why = "it is no file, or empty";
    } else {
        void *const memory = mmap(NULL, (size_t)found.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_POPULATE, handle, 0);
        if (memory == MAP_FAILED) {
            why = strerror(errno);
        } else {
            *file = (struct mapped_file){.text = memory, .bytes = (size_t)found.st_size};
        }
    }
    close(handle);
    return why;
}
