/* tauto-step sees nothing of what a step calls, so that it costs a step nothing. */
#include "explain.h"

const struct step_explainer *step_explainer(void)
{
    return NULL;
}
