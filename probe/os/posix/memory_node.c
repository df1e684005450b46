/* Memory near the CPU that uses it: get_mempolicy(2), set_mempolicy(2), and the node's folder that sysfs has beside each
 * CPU. A locked process has its pages when it maps them, so the policy is in force around that. */
#define _GNU_SOURCE
#include "format.h"
#include "linux.h"
#include "os/os.h"

#include <dirent.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/mempolicy.h is not part of every C library's headers. */
enum { POLICY_DEFAULT = 0, POLICY_PREFERRED = 1, NODES = 1024, BITS = 8 * (int)sizeof(unsigned long) };

int32_t os_memory_node_of(int32_t cpu)
{
    static const char prefix[] = "node";
    char path[64];
    int32_t node = -1;
    format_text(path, sizeof path, "/sys/devices/system/cpu/cpu%d", (int)cpu);
    DIR *const folder = cpu >= 0 ? opendir(path) : NULL;
    if (folder == NULL) {
        return -1;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL && node < 0; entry = readdir(folder)) {
        const char *end = NULL;
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0) {
            const int64_t number = linux_number(entry->d_name + sizeof prefix - 1, &end);
            node = *end == '\0' && end != entry->d_name + sizeof prefix - 1 && number < NODES ? (int32_t)number : -1;
        }
    }
    closedir(folder);
    return node;
}

/* False: the process has a policy of its own, or there are no policies here. */
static bool prefer(int32_t node)
{
    int policy = POLICY_DEFAULT;
    unsigned long nodes[NODES / BITS] = {0};
    if (syscall(SYS_get_mempolicy, &policy, NULL, 0UL, NULL, 0UL) != 0 || policy != POLICY_DEFAULT) {
        return false;
    }
    nodes[node / BITS] = 1UL << (node % BITS);
    return syscall(SYS_set_mempolicy, POLICY_PREFERRED, nodes, (unsigned long)NODES + 1) == 0;
}

enum os_status os_memory_allocate_near(void **memory, size_t bytes, int32_t cpu)
{
    const int32_t node = os_memory_node_of(cpu);
    const bool preferred = node >= 0 && prefer(node);
    const enum os_status status = os_memory_allocate(memory, bytes);
    if (preferred) {
        (void)syscall(SYS_set_mempolicy, POLICY_DEFAULT, NULL, 0UL);
    }
    return status;
}
