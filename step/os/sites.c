/* backtrace(3), dladdr(3). */
#define _GNU_SOURCE
#include "sites.h"

#include "format.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

/* The code of this program, as the linker lays it out. */
extern const char own_begin[] __asm__("__executable_start");
extern const char own_end[] __asm__("etext");

_Thread_local volatile bool sites_watch;

static struct {
    struct explained *explained;
    int64_t step;
    enum explained_step which;
    int64_t counted[EXPLAINED_KINDS];
} now;

void sites_open(struct explained *explained)
{
    now.explained = explained;
}

void sites_begin(int64_t step, enum explained_step which)
{
    now.step = step;
    now.which = which;
    memset(now.counted, 0, sizeof now.counted);
}

void sites_end(int64_t counted[EXPLAINED_COLUMNS])
{
    for (int kind = 0; kind < EXPLAINED_COLUMNS; kind++) {
        counted[kind] = now.explained->absent[kind][0] == '\0' ? now.counted[kind] : INT64_MIN;
    }
}

static bool is_own(const void *address)
{
    return (uintptr_t)address >= (uintptr_t)own_begin && (uintptr_t)address < (uintptr_t)own_end;
}

void chain_of_callers(struct chain *chain)
{
    enum { OF_OURS = 8 };
    void *all[CHAIN_LIMIT + OF_OURS];
    const int got = backtrace(all, CHAIN_LIMIT + OF_OURS);
    int first = 0;
    while (first < got && is_own(all[first])) {
        first++;
    }
    chain->count = 0;
    while (first < got && chain->count < CHAIN_LIMIT && !is_own(all[first])) {
        chain->addresses[chain->count++] = all[first++];
    }
    chain->from_step = first < got && is_own(all[first]);
}

void chain_of_instruction(struct chain *chain, const void *instruction, const void *caller)
{
    *chain = (struct chain){.count = 0, .from_step = is_own(instruction) || is_own(caller)};
    memcpy(&chain->addresses[chain->count++], &instruction, sizeof instruction);
    if (caller != NULL) {
        memcpy(&chain->addresses[chain->count++], &caller, sizeof caller);
    }
}

/* Where the system's libraries are entered is told, not what they do inside. */
static bool is_of_system(const char *path)
{
    static const char *const beginnings[] = {"libc.so", "libc-", "libstdc++", "libc++", "libm.so", "libpthread", "libgcc_s",
                                             "ld-", "libdl.", "librt.", "linux-vdso"};
    const char *const slash = strrchr(path, '/');
    const char *const name = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) {
            return true;
        }
    }
    return false;
}

static uint32_t module_of(const char *path)
{
    struct explained *const explained = now.explained;
    for (uint32_t i = 0; i < explained->module_count; i++) {
        if (strcmp(explained->modules[i], path) == 0) {
            return i;
        }
    }
    if (explained->module_count == MODULES_LIMIT) {
        return MODULES_LIMIT;
    }
    format_text(explained->modules[explained->module_count], MODULE_BYTES, "%s", path);
    return explained->module_count++;
}

/* The file that has an address, and which one it is there. A return address may be that of the next function. */
static bool locate(const void *address, struct site_frame *frame)
{
    Dl_info info;
    if (dladdr((const char *)address - 1, &info) == 0 || info.dli_fname == NULL) {
        *frame = (struct site_frame){MODULES_LIMIT, (uintptr_t)address - 1};
        return false;
    }
    *frame = (struct site_frame){module_of(info.dli_fname), (uintptr_t)address - 1 - (uintptr_t)info.dli_fbase};
    return is_of_system(info.dli_fname);
}

/* Of a stretch in one of the system's libraries the two ends are kept. False: nobody but the system and we called. */
static bool keep_frames(struct site *site, const struct chain *chain)
{
    bool is_users = !chain->from_step;
    int of_system = 0; /* in the same module, so far */
    for (int i = 0; i < chain->count; i++) {
        struct site_frame frame;
        const bool is_system = locate(chain->addresses[i], &frame);
        const struct site_frame *const last = site->frame_count > 0 ? &site->frames[site->frame_count - 1] : NULL;
        of_system = !is_system ? 0 : last != NULL && of_system > 0 && last->module == frame.module ? of_system + 1 : 1;
        is_users = is_users || (!is_system && !is_own(chain->addresses[i]));
        if (of_system > 2) {
            site->frames[site->frame_count - 1] = frame;
        } else if (site->frame_count < SITE_FRAMES_LIMIT) {
            site->frames[site->frame_count++] = frame;
        }
    }
    return is_users;
}

static uint64_t mixed(uint64_t key, uint64_t value)
{
    static const uint64_t odd = 0x9E3779B97F4A7C15;
    key = (key ^ value) * odd;
    return key ^ (key >> 29);
}

static uint64_t key_of(const struct chain *chain, const struct seen *seen)
{
    uint64_t key = mixed((uint64_t)seen->kind + 1, (uint64_t)seen->call);
    key = mixed(key, (uintptr_t)seen->name);
    for (int i = 0; i < chain->count; i++) {
        key = mixed(key, (uintptr_t)chain->addresses[i]);
    }
    return key;
}

static struct site *find_site(uint64_t key)
{
    for (uint32_t i = 0; i < now.explained->site_count; i++) {
        if (now.explained->sites[i].key == key) {
            return &now.explained->sites[i];
        }
    }
    return NULL;
}

/* NULL: it is none of the step's, or there is no place; `is_users` tells which. */
static struct site *make_site(uint64_t key, const struct chain *chain, const struct seen *seen, bool *is_users)
{
    struct explained *const explained = now.explained;
    struct site made = {.kind = seen->kind, .call = seen->call, .name = seen->name, .key = key, .last_step = -1};
    *is_users = keep_frames(&made, chain);
    if (!*is_users || explained->site_count == SITES_LIMIT) {
        return NULL;
    }
    if (seen->describe != NULL) {
        seen->describe(seen->given, made.detail, sizeof made.detail);
    }
    struct site *const site = &explained->sites[explained->site_count];
    *site = made;
    explained->site_count++; /* last: the parent may have to read what there is */
    return site;
}

void sites_lose(int64_t times)
{
    now.explained->lost += now.which == EXPLAINED_RECORDED ? times : 0;
}

void sites_note(const struct chain *chain, const struct seen *seen)
{
    const uint64_t key = key_of(chain, seen);
    bool is_users = true;
    struct site *site = find_site(key);
    if (site == NULL) {
        site = make_site(key, chain, seen, &is_users);
    }
    if (!is_users) {
        return;
    }
    now.counted[seen->kind] += seen->times;
    if (now.which == EXPLAINED_WARMUP) {
        return;
    }
    if (site == NULL) {
        sites_lose(seen->times);
    } else if (now.which == EXPLAINED_FIRST) {
        site->in_first += seen->times;
    } else {
        site->count += seen->times;
        site->steps += site->last_step != now.step;
        site->last_step = now.step;
        site->longest_ns = seen->took_ns > site->longest_ns ? seen->took_ns : site->longest_ns;
    }
}
