/* The kernels of 64-bit x86 CPUs. */
#include "tire/kernel.h"

#include "os/os.h"

tire_kernel tire_kernel_sse2;
tire_kernel tire_kernel_avx2;
tire_kernel tire_kernel_avx512;

size_t tire_kernels_here(struct tire_kernel_entry *entries, size_t room)
{
    static const struct {
        struct tire_kernel_entry entry;
        uint32_t lanes;
    } kernels[] = {
        {{"sse2", tire_kernel_sse2}, 2},
        {{"avx2", tire_kernel_avx2}, 4},
        {{"avx512", tire_kernel_avx512}, 8},
    };
    const uint32_t lanes_here = os_vector_lanes();
    size_t count = 0;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        if (kernels[i].lanes <= lanes_here && count < room) {
            entries[count++] = kernels[i].entry;
        }
    }
    return count;
}

struct tire_kernel_entry tire_kernel_here(void)
{
    struct tire_kernel_entry entries[3];
    return entries[tire_kernels_here(entries, 3) - 1];
}
