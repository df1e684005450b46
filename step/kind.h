/* What can be run as a step: one file per kind. All but `knows` happens in the child. */
#ifndef TAUTO_STEP_KIND_H
#define TAUTO_STEP_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tautochrone_step.h"

enum { STEP_SIGNALS_LIMIT = 64 };

struct step_code {
    /* Nothing but the call of `step` stands between the two time stamps. */
    int (*step)(void *context, uint64_t k, int64_t t_ns);
    void *context;
    void *(*init)(void); /* NULL: there is none */
    void (*signals)(void *context, struct tautochrone_signals *signals); /* the same: nothing goes in or out */
    void (*end)(void *context); /* the same */
};

struct step_kind {
    const char *name;
    /* Does this text name something of this kind? */
    bool (*knows)(const char *text);
    /* Loads it. False: `why` has the reason, and behind a line break what to do. */
    bool (*load)(struct step_code *code, const char *text, char *why, size_t bytes);
};

extern const struct step_kind step_of_library;

/* NULL: no kind knows it. */
const struct step_kind *step_kind_of(const char *text);

#endif
