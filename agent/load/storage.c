/*
 * Storage: each thread writes a file of its own in blocks, has the device take them (fsync) after every few, reads all
 * of it back from the device and checks it, gives the space back, and begins anew. The files have no name.
 */
#include "load/load.h"

#include "os/storage.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LEAST_BLOCK_BYTES = 512, MOST_BLOCK_BYTES = 16 * 1024 * 1024, KIB = 1024, MIB = KIB * KIB, WORD_BYTES = 8 };
enum { FREE_FOR_OTHERS_PERCENT = 5 };

struct settings {
    const char *folder;
    int64_t bytes; /* in all */
    int64_t block_bytes;
    int64_t sync_blocks; /* 0: only before reading */
};

/* What one thread works with. */
struct file {
    struct load_thread *thread;
    const struct settings *settings;
    struct os_storage *storage;
    uint64_t *block;
    int64_t blocks;
    uint64_t seed;
};

static size_t options(void *settings, struct option *table)
{
    struct settings *const own = settings;
    *own = (struct settings){.bytes = 64LL * MIB, .block_bytes = 64LL * KIB, .sync_blocks = 16};
    table[0] = (struct option){"path", OPTION_TEXT, &own->folder, NULL, "a folder [TMPDIR, or /var/tmp]", false};
    table[1] = (struct option){"bytes", OPTION_SIZE, &own->bytes, NULL, "of the files, in all [64MiB]", false};
    table[2] = (struct option){"block", OPTION_SIZE, &own->block_bytes, NULL, "written or read at once [64KiB]", false};
    table[3] = (struct option){"sync", OPTION_COUNT, &own->sync_blocks, NULL,
                               "fsync after so many blocks; 0: once for each file [16]", false};
    return 4;
}

static int check_sizes(const struct settings *settings, uint32_t threads)
{
    if (settings->block_bytes < LEAST_BLOCK_BYTES || settings->block_bytes > MOST_BLOCK_BYTES ||
        settings->block_bytes % LEAST_BLOCK_BYTES != 0) {
        return refuse(EXIT_USAGE, "--block must be a multiple of 512 B, and at most 16MiB.");
    }
    if (settings->bytes / threads < settings->block_bytes) {
        return refuse(EXIT_USAGE, "--bytes must hold one --block at least for each of %" PRIu32 " threads.", threads);
    }
    return EXIT_MEASURED;
}

/* Tried with a file, since only that tells. */
static int check_folder(const struct settings *settings)
{
    struct os_storage_facts facts;
    struct os_storage *tried = NULL;
    enum os_status status = os_storage_facts(settings->folder, &facts);
    if (status == OS_OK && facts.is_read_only) {
        return refuse(EXIT_FAILED, "--path %s: this file system is mounted read-only.\nChoose another folder.",
                      settings->folder);
    }
    if (status == OS_OK) {
        status = os_storage_create(&tried, settings->folder);
        os_storage_destroy(tried);
    }
    if (status != OS_OK) {
        return refuse(status == OS_NOT_PERMITTED ? EXIT_NOT_PERMITTED : EXIT_FAILED,
                      "--path %s: no file can be made there: %s.\nChoose another folder.", settings->folder,
                      os_status_text(status));
    }
    if (settings->bytes > facts.free_bytes / 100 * (100 - FREE_FOR_OTHERS_PERCENT)) {
        return refuse(EXIT_FAILED, "--path %s: %" PRId64 " MiB are free there, and --bytes asks for %" PRId64
                                   " MiB; some must stay free for others.\nTake less, or another folder.",
                      settings->folder, facts.free_bytes / MIB, settings->bytes / MIB);
    }
    return EXIT_MEASURED;
}

static int prepare(struct load_run *run)
{
    struct settings *const settings = run->settings;
    if (settings->folder == NULL) {
        settings->folder = os_storage_usual_folder();
    }
    const int code = check_sizes(settings, run->threads);
    return code == EXIT_MEASURED ? check_folder(settings) : code;
}

/* What block `index` holds, word by word; no two blocks of a pass are alike. */
static uint64_t first_word(const struct file *file, int64_t index)
{
    return (file->seed ^ (uint64_t)index) * 0xff51afd7ed558ccdU;
}

static bool is_well(const struct file *file, const char *what, enum os_status status)
{
    if (status != OS_OK) {
        load_failed(file->thread, what, status);
    }
    return status == OS_OK;
}

static bool write_all(struct file *file)
{
    const struct settings *const settings = file->settings;
    const size_t words = (size_t)settings->block_bytes / WORD_BYTES;
    for (int64_t i = 0; i < file->blocks && !load_must_end(file->thread); i++) {
        uint64_t value = first_word(file, i);
        for (size_t k = 0; k < words; k++, value += 0x9e3779b97f4a7c15U) {
            file->block[k] = value;
        }
        if (!is_well(file, "a block can't be written",
                     os_storage_write(file->storage, i * settings->block_bytes, file->block, (size_t)settings->block_bytes))) {
            return false;
        }
        if (settings->sync_blocks > 0 && (i + 1) % settings->sync_blocks == 0 &&
            !is_well(file, "the device does not take what was written", os_storage_sync(file->storage))) {
            return false;
        }
        load_did(file->thread, 1, (uint64_t)settings->block_bytes);
    }
    return is_well(file, "the device does not take what was written", os_storage_sync(file->storage));
}

static bool read_all(struct file *file)
{
    const struct settings *const settings = file->settings;
    const size_t words = (size_t)settings->block_bytes / WORD_BYTES;
    for (int64_t i = 0; i < file->blocks && !load_must_end(file->thread); i++) {
        if (!is_well(file, "a block can't be read",
                     os_storage_read(file->storage, i * settings->block_bytes, file->block, (size_t)settings->block_bytes))) {
            return false;
        }
        uint64_t value = first_word(file, i);
        uint64_t wrong = 0;
        for (size_t k = 0; k < words; k++, value += 0x9e3779b97f4a7c15U) {
            wrong |= file->block[k] ^ value;
        }
        if (wrong != 0) {
            load_failed_because(file->thread, EXIT_FAILED,
                                "the storage under %s is faulty: a block came back with other content than was written.",
                                settings->folder);
            return false;
        }
        load_did(file->thread, 1, (uint64_t)settings->block_bytes);
    }
    return true;
}

static void work(struct load_thread *thread)
{
    const struct settings *const settings = thread->run->settings;
    struct file file = {
        .thread = thread,
        .settings = settings,
        .block = malloc((size_t)settings->block_bytes),
        .blocks = settings->bytes / thread->run->threads / settings->block_bytes,
        .seed = thread->index,
    };
    if (is_well(&file, "memory for a block can't be had", file.block == NULL ? OS_NO_MEMORY : OS_OK) &&
        is_well(&file, "its file can't be made", os_storage_create(&file.storage, settings->folder))) {
        while (!load_must_end(thread) && write_all(&file)) {
            os_storage_forget(file.storage);
            if (load_must_end(thread) || !read_all(&file) ||
                !is_well(&file, "its file can't be cleared", os_storage_clear(file.storage))) {
                break;
            }
            file.seed += thread->run->threads;
        }
    }
    os_storage_destroy(file.storage);
    free(file.block);
}

const struct load load_storage = {
    .name = "storage",
    .summary = "writes, syncs, reads back and checks a file on every chosen CPU",
    .unit = "blocks written or read",
    .settings_bytes = sizeof(struct settings),
    .options = options,
    .prepare = prepare,
    .work = work,
};
