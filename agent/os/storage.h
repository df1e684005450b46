/* Files that a load writes and reads back. They have no name from the start, so that nothing is left, however it ends. */
#ifndef TAUTO_STORAGE_H
#define TAUTO_STORAGE_H

#include "os/os.h"

/* Where temporary files belong that are too large for memory; never NULL. */
const char *os_storage_usual_folder(void);

struct os_storage_facts {
    int64_t free_bytes; /* for this user */
    bool is_read_only;
};
/* Of the file system of this folder. */
enum os_status os_storage_facts(const char *folder, struct os_storage_facts *facts);

struct os_storage;
enum os_status os_storage_create(struct os_storage **storage, const char *folder);
void os_storage_destroy(struct os_storage *storage);
/* All of `bytes`, or why not. OS_FAILED also when there is less in the file than is to be read. */
enum os_status os_storage_write(struct os_storage *storage, int64_t at, const void *data, size_t bytes);
enum os_status os_storage_read(struct os_storage *storage, int64_t at, void *data, size_t bytes);
/* Returns when the device has all of it. */
enum os_status os_storage_sync(struct os_storage *storage);
/* What was synced is read from the device the next time, where the system heeds that. */
void os_storage_forget(struct os_storage *storage);
/* Gives the space back; the file is empty then. */
enum os_status os_storage_clear(struct os_storage *storage);

#endif
