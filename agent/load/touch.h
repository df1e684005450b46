/* What loads that take memory do with it. */
#ifndef TAUTO_LOAD_TOUCH_H
#define TAUTO_LOAD_TOUCH_H

#include "load/load.h"
#include "load/memory_share.h"

/* One byte of every page, so that the system has to give it. False: the load must end, and the rest is not touched. In
 * a child it is safe too: memory only, no locks. */
bool touch_pages(const struct load_thread *thread, void *memory, size_t bytes);
/* Memory is short: others give some back meanwhile. */
void wait_for_memory(void);

/* Nothing is done before memory of so many bytes is filled for the first time: that may take longer than other loads do. */
void give_time_to_fill(struct load_run *run, int64_t bytes);

/* Of loads whose settings are their share of the memory and nothing else: an even part of it for each thread. */
int memory_share_prepare(struct load_run *run);
void memory_share_finish(struct load_run *run, struct json *report);

/* True: the whole round was done. */
typedef bool (*memory_round)(struct load_thread *thread, uint8_t *memory, size_t bytes);
/* The work of a load that maps its part of the share, and `beyond` more, does a round with the part, and gives all of it
 * back with one call, again and again. An operation is a whole round. */
void memory_rounds(struct load_thread *thread, struct memory_share *share, size_t beyond, memory_round go_round);

#endif
