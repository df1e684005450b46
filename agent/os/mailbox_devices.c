/*
 * The mailbox and the gate of a virtual machine: two PCI devices, used from here through the files of sysfs, without a
 * driver. The mailbox is QEMU's ivshmem-plain, shared memory in BAR 2. The gate is a channel of the serial card
 * IP-Octal 232 (ipoctal232) on its carrier TPCI200, whose BAR 3 shows the card's registers.
 */
#define _GNU_SOURCE
#include "mailbox_memory.h"

#include "fault_errno.h"
#include "format.h"
#include "os/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct device {
    const char *what;
    const char *identity; /* vendor and device as sysfs has them */
    const char *memory;   /* the file of its BAR */
};

static const struct device box_device = {"the mailbox", "0x1af4\n0x1110\n", "resource2"};
static const struct device gate_device = {"the gate", "0x1498\n0x30c8\n", "resource3"};
static const char *const devices = "/sys/bus/pci/devices";

enum { LONGEST_PATH = 256, GATE_BYTES = 1024 };
/* Registers of the first channel. The carrier swaps the bytes of each pair. */
enum { SWAPPED = 1, REGISTER_COMMAND = 5 ^ SWAPPED, REGISTER_TRANSMIT = 7 ^ SWAPPED, COMMAND_TRANSMIT = 4 };

static bool has_identity(const char *name, const struct device *device)
{
    static const char *const files[] = {"vendor", "device"};
    struct text identity = {0};
    for (size_t i = 0; i < 2; i++) {
        char path[LONGEST_PATH];
        format_text(path, sizeof path, "%s/%s%s", devices, name, files[i]);
        (void)os_file_read(path, &identity);
    }
    const bool is_it = strcmp(text_string(&identity), device->identity) == 0;
    text_free(&identity);
    return is_it;
}

/* The folder of the device, with a slash at its end. */
static bool find(const struct device *device, char *folder, size_t bytes)
{
    struct text names = {0};
    bool found = false;
    if (os_folder_names(devices, &names) == FAULT_NONE && names.length > 0) {
        char *rest = NULL;
        for (const char *name = strtok_r(names.data, "\n", &rest); name != NULL && !found;
             name = strtok_r(NULL, "\n", &rest)) {
            found = has_identity(name, device);
            if (found) {
                format_text(folder, bytes, "%s/%s", devices, name);
            }
        }
    }
    text_free(&names);
    return found;
}

/* NULL: `fault` says why. */
static volatile unsigned char *map(const char *folder, const struct device *device, size_t bytes, enum os_fault *fault)
{
    char path[LONGEST_PATH];
    format_text(path, sizeof path, "%senable", folder);
    *fault = os_file_write(path, "1", 1, false);
    if (*fault != FAULT_NONE) {
        return NULL;
    }
    format_text(path, sizeof path, "%s%s", folder, device->memory);
    void *const memory = mailbox_map(path, bytes);
    *fault = memory == NULL ? os_fault_from_errno(errno) : FAULT_NONE;
    return memory;
}

/* NULL: `problem` says why. */
static volatile unsigned char *open_device(const struct device *device, size_t bytes, struct text *problem)
{
    char folder[LONGEST_PATH];
    enum os_fault fault = FAULT_NONE;
    if (!find(device, folder, sizeof folder)) {
        text_format(problem, "%s is not among the devices of this machine", device->what);
        return NULL;
    }
    volatile unsigned char *const memory = map(folder, device, bytes, &fault);
    if (memory == NULL) {
        text_format(problem, "%s, %s: %s", device->what, folder, os_fault_text(fault));
    }
    return memory;
}

enum os_status os_mailbox_open(struct os_mailbox **mailbox, size_t bytes, struct text *problem)
{
    struct os_mailbox *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    made->memory = open_device(&box_device, bytes, problem);
    volatile unsigned char *const registers =
        made->memory != NULL ? open_device(&gate_device, GATE_BYTES, problem) : NULL;
    if (registers == NULL) {
        free(made);
        return OS_NOT_FOUND;
    }
    registers[REGISTER_COMMAND] = COMMAND_TRANSMIT;
    made->transmit = registers + REGISTER_TRANSMIT;
    *mailbox = made;
    return OS_OK;
}
