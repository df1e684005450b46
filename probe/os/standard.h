/* Input, output and errors, any of which whoever started us may have closed. */
#ifndef TAUTO_STANDARD_H
#define TAUTO_STANDARD_H

/* Nothing that is opened from now on gets the number of one of them. */
void os_standard_numbers_take(void);

#endif
