/* What can be run as a step: one file per kind. All but `knows` happens in the child. */
#ifndef TAUTO_STEP_KIND_H
#define TAUTO_STEP_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inputs.h"

enum { STEP_WHY_BYTES = 1024 };

/* What the code says of itself, where its parent sees it. */
struct step_report {
    char why[STEP_WHY_BYTES]; /* of an init that fails, and of a step that ends the run; empty: it does not say */
    int64_t behind; /* of its simulated time: by how many periods it is behind that of the releases */
};

struct step_code {
    /* Nothing but the call of `step` stands between the two time stamps. */
    int (*step)(void *context, uint64_t k, int64_t t_ns);
    void *context;
    void *(*init)(void); /* NULL: there is none */
    void (*signals)(void *context, struct tautochrone_signals *signals); /* the same: nothing goes in or out */
    void (*end)(void *context); /* the same */
    /* Given to `load`. */
    const char *unpacked; /* the folder that the code was unpacked into; NULL: it was not */
    int64_t period_ns;
    struct step_report *report;
};

struct step_kind {
    const char *name;
    /* Does this text name something of this kind? */
    bool (*knows)(const char *text);
    /* Loads it. False: `why` has the reason, and behind a line break what to do. */
    bool (*load)(struct step_code *code, const char *text, char *why, size_t bytes);
};

extern const struct step_kind step_of_library;
extern const struct step_kind step_of_fmu;

/* NULL: no kind knows it. */
const struct step_kind *step_kind_of(const char *text);

#endif
