#include "kind.h"

static const struct step_kind *const kinds[] = {&step_of_fmu, &step_of_library};

const struct step_kind *step_kind_of(const char *text)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i]->knows(text)) {
            return kinds[i];
        }
    }
    return NULL;
}
