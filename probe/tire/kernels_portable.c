/* The one kernel of other CPUs: two numbers at a time, which the compiler makes of what the CPU has. */
#include "tire/kernel.h"

tire_kernel tire_kernel_portable;

struct tire_kernel_entry tire_kernel_here(void)
{
    return (struct tire_kernel_entry){KERNEL_PORTABLE_NAME, tire_kernel_portable};
}

size_t tire_kernels_here(struct tire_kernel_entry *entries, size_t room)
{
    if (room == 0) {
        return 0;
    }
    entries[0] = tire_kernel_here();
    return 1;
}
