/* Rights that a program has from its file, and not from whoever calls it: set-user-ID, file capabilities. */
#ifndef TAUTO_RIGHTS_H
#define TAUTO_RIGHTS_H

#include "os/os.h"

/* Its file gives it rights that its caller has not. */
bool os_rights_are_raised(void);
/* Its file makes it act as another user or group: whatever it opens or starts would be theirs. */
bool os_rights_are_of_another(void);
/* From now on this process may do what its caller may, and nothing more. Before any thread is created. */
enum os_status os_rights_give_back(void);

#endif
