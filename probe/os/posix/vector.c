/* Which vector instructions there are: the compiler's own routine asks the CPU, and whether the system keeps the wide
 * registers when it switches threads. */
#include "os/os.h"

uint32_t os_vector_lanes(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        return 8;
    }
    if (__builtin_cpu_supports("avx2")) {
        return 4;
    }
#endif
    return 2;
}
