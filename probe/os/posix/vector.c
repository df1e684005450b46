/* Which vector instructions there are: CPUID, and XGETBV for whether the system keeps the wide registers when it switches
 * threads. The compiler's routine for that knows every CPU ever made, which is 5 KB. */
#include "os/os.h"

#if defined __x86_64__
#include <cpuid.h>

static const uint32_t keeps_extended = 1U << 27; /* leaf 1, ECX: the system says with XGETBV which registers it keeps */
static const uint32_t has_avx2 = 1U << 5;        /* leaf 7, EBX, as are the others */
static const uint32_t has_avx512 = 1U << 16 | 1U << 17 | 1U << 30 | 1U << 31; /* F, DQ, BW, VL */
static const uint32_t keeps_256_bits = 0x06;
static const uint32_t keeps_512_bits = 0xe6;

static uint32_t kept_registers(void)
{
    uint32_t low;
    uint32_t high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

uint32_t os_vector_lanes(void)
{
    uint32_t eax;
    uint32_t ebx;
    uint32_t ecx;
    uint32_t edx;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & keeps_extended) == 0 ||
        __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) {
        return 2;
    }
    const uint32_t kept = kept_registers();
    if ((ebx & has_avx512) == has_avx512 && (kept & keeps_512_bits) == keeps_512_bits) {
        return 8;
    }
    return (ebx & has_avx2) != 0 && (kept & keeps_256_bits) == keeps_256_bits ? 4 : 2;
}
#else
uint32_t os_vector_lanes(void)
{
    return 2;
}
#endif
