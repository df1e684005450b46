/* A function of a shared library, lib.so:NAME: tautochrone_step.h has how it is called, and Simulink's way is known too. */
#include "kind.h"
#include "os/library.h"

#include "format.h"

#include <string.h>

enum { NAME_BYTES = 512, PATH_BYTES = 4096 };

typedef void (*without_arguments)(void);

/* Of the one model that this process runs: its functions take no context. */
static struct {
    without_arguments initialize;
    without_arguments step;
    without_arguments terminate;
} model;

static void *library; /* the one that is loaded, until the process ends */

static int step_model(void *context, uint64_t k, int64_t t_ns)
{
    (void)context;
    (void)k;
    (void)t_ns;
    model.step();
    return 0;
}

static void *initialize_model(void)
{
    model.initialize();
    return &model;
}

static void terminate_model(void *context)
{
    (void)context;
    model.terminate();
}

static bool is_library(const char *text)
{
    const char *const colon = strrchr(text, ':');
    return colon != NULL && colon > text && colon[1] != '\0' && strchr(colon, '/') == NULL;
}

/* NAME and what is put behind it. */
static os_function find(const char *name, const char *behind)
{
    char whole[NAME_BYTES];
    return format_text(whole, sizeof whole, "%s%s", name, behind) < sizeof whole ? os_library_find(library, whole) : NULL;
}

static void take_model(struct step_code *code, const char *name, os_function initialize)
{
    model.initialize = (without_arguments)initialize;
    model.step = (without_arguments)find(name, "_step");
    model.terminate = (without_arguments)find(name, "_terminate");
    code->step = step_model;
    code->init = initialize_model;
    code->end = model.terminate != NULL ? terminate_model : NULL;
}

static bool load(struct step_code *code, const char *text, char *why, size_t bytes)
{
    char path[PATH_BYTES];
    /* Without a slash it would be looked for where the system's libraries are. */
    if (format_text(path, sizeof path, "%s%s", strchr(text, '/') == NULL ? "./" : "", text) >= sizeof path) {
        format_text(why, bytes, "%s: the path is too long.", text);
        return false;
    }
    char *const colon = strrchr(path, ':');
    *colon = '\0';
    const char *const name = colon + 1;
    const char *trouble = "";
    library = os_library_open(path, &trouble);
    if (library == NULL) {
        format_text(why, bytes, "%s: the library can't be loaded: %s.\nBuild it for this machine with `cc -shared -fPIC`, and "
                                "with all that it needs.",
                    text, trouble);
        return false;
    }
    os_function step = find(name, "_step");
    os_function initialize = step != NULL ? find(name, "_initialize") : NULL;
    if (initialize != NULL) {
        take_model(code, name, initialize);
        return true;
    }
    step = step != NULL ? step : find(name, "");
    if (step == NULL) {
        format_text(why, bytes, "%s: the library has neither a function %s_step nor %s.\n`nm -D` lists its functions; in C++, "
                                "tautochrone_step.h gives them C names.",
                    text, name, name);
        return false;
    }
    code->step = (int (*)(void *, uint64_t, int64_t))step;
    code->init = (void *(*)(void))find(name, "_init");
    code->signals = (void (*)(void *, struct tautochrone_signals *))find(name, "_signals");
    code->end = (void (*)(void *))find(name, "_end");
    return true;
}

const struct step_kind step_of_library = {.name = "library", .knows = is_library, .load = load};
