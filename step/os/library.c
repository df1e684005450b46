/* dlopen(3). */
#include "library.h"

#include <dlfcn.h>
#include <string.h>

void *os_library_open(const char *path, const char **why)
{
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        *why = dlerror();
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
