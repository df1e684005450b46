/* As probe/fuzz/stand_in.c: one thread, whose CPUs stay as they are, in place of all threads of the system. */
#include "os/settings.h"

enum os_fault __wrap_os_threads_visit(os_thread_visitor visit, void *argument);
enum os_fault __wrap_os_thread_cpus_write(const struct os_thread_identity *identity, const char *list);

enum os_fault __wrap_os_threads_visit(os_thread_visitor visit, void *argument)
{
    static const struct os_thread_identity identity = {1, 1, 1};
    visit(argument, &identity, "0-3");
    return FAULT_NONE;
}

enum os_fault __wrap_os_thread_cpus_write(const struct os_thread_identity *identity, const char *list)
{
    (void)identity;
    return os_cpus_are_within(list, list) ? FAULT_ESRCH : FAULT_EINVAL;
}
