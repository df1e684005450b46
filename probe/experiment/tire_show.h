/* --send: what an experiment tells of its steps to who shows the tire live (tire/live.h). */
#ifndef TAUTO_TIRE_SHOW_H
#define TAUTO_TIRE_SHOW_H

#include "experiment/tire_team.h"

/* All three do nothing where nothing is to be sent. */

/* The tire is at its beginning, and no thread is in a step. Returns an exit code. */
int tire_show_begin(struct tire_team *team);
/* The step just finished, released at `scheduled_ns`, as the last thread sees it while the others are held. */
struct live_step tire_show_step(const struct tire_team *team, int64_t scheduled_ns);
/* All threads have ended. */
void tire_show_end(struct tire_team *team);

#endif
