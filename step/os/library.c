/* dlopen(3). */
#include "library.h"

#include <dlfcn.h>
#include <string.h>

void *os_library_open(const char *path, const char **why)
{
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *const said = dlerror();
        /* glibc does not say which of them it was */
        *why = said == NULL || strstr(said, "failed to map segment") == NULL
                   ? said
                   : "it finds no place in memory that may be locked (`ulimit -l`; --no-memory-lock does without), or no file "
                     "of its folder may be run (noexec)";
    }
    return library;
}

/* ISO C has no conversion from an address of data to one of a function; POSIX promises that they look alike. */
os_function os_library_find(void *library, const char *name)
{
    void *const found = dlsym(library, name);
    os_function function = NULL;
    memcpy(&function, &found, sizeof function);
    return function;
}
