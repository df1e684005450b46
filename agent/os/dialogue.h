/* Standard input and output as a conversation with whoever is at the other end, who may go away or freeze. */
#ifndef TAUTO_DIALOGUE_H
#define TAUTO_DIALOGUE_H

#include "os/os.h"

enum os_input { OS_INPUT_NONE, OS_INPUT_SOME, OS_INPUT_ENDED };

/* What has come by now, at most `bytes` of it. Never waits. */
enum os_input os_dialogue_read(void *data, size_t bytes, size_t *got);
/* Sleeps until something has come, this process was asked to stop (os_stop_requested), or the instant. */
void os_dialogue_wait(int64_t instant_ns);
/* All of `bytes`. OS_TIMED_OUT: nobody took them until the instant. OS_INTERRUPTED: asked to stop. OS_CLOSED: nobody
 * is there. */
enum os_status os_dialogue_write(const void *data, size_t bytes, int64_t instant_ns);

#endif
