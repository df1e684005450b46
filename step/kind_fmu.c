/* A functional mock-up unit, NAME.fmu, that tauto has unpacked (fmu.h). What both versions of the standard share is here. */
#include "fmu.h"
#include "os/library.h"

#include "format.h"
#include "message.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LOGGED_AT_MOST = 100, MESSAGE_BYTES = 1000, NS_PER_US = 1000, US_PER_S = 1000000 };

static void *library; /* the one that is loaded, until the process ends */
static const char *lacking;
static struct fmu the_fmu; /* the one that this process runs */

fmu_function fmu_find(const char *name)
{
    const fmu_function found = os_library_find(library, name);
    lacking = found == NULL && lacking == NULL ? name : lacking;
    return found;
}

const char *fmu_lacks(void)
{
    return lacking;
}

static const struct fmu_interface *interface_of(const struct fmu *fmu)
{
    return fmu->about.version == 2 ? &fmu_interface_2 : &fmu_interface_3;
}

static int access_values(const struct fmu *fmu, struct fmu_group *group)
{
    return fmu->about.version == 2
               ? group->access_2(fmu->instance, group->references, group->count, group->values)
               : group->access_3(fmu->instance, group->references, group->count, group->values, group->count);
}

enum fmu_status fmu_set(const struct fmu *fmu, struct fmu_groups *groups)
{
    for (uint32_t g = 0; g < groups->count; g++) {
        struct fmu_group *const group = &groups->groups[g];
        for (uint32_t i = 0; i < group->count; i++) {
            group->given[i] = fmu->in[group->places[i]];
            group->type->write(group->values, i, group->given[i]);
        }
        const int status = access_values(fmu, group);
        if (status > FMU_WARNING) {
            return (enum fmu_status)status;
        }
    }
    return FMU_OK;
}

enum fmu_status fmu_get(struct fmu *fmu)
{
    for (uint32_t g = 0; g < fmu->get.count; g++) {
        struct fmu_group *const group = &fmu->get.groups[g];
        const int status = access_values(fmu, group);
        if (status > FMU_WARNING) {
            return (enum fmu_status)status;
        }
        for (uint32_t i = 0; i < group->count; i++) {
            fmu->out[group->places[i]] = group->type->read(group->values, i);
        }
    }
    return FMU_OK;
}

bool fmu_has_changed(const struct fmu *fmu)
{
    for (uint32_t g = 0; g < fmu->set_discrete.count; g++) {
        const struct fmu_group *const group = &fmu->set_discrete.groups[g];
        for (uint32_t i = 0; i < group->count; i++) {
            const double now = fmu->in[group->places[i]];
            if (now != group->given[i] && !(isnan(now) && isnan(group->given[i]))) {
                return true;
            }
        }
    }
    return false;
}

static bool find_access(const struct fmu *fmu, struct fmu_groups *groups, const char *what)
{
    char name[FMU_NAME_BYTES];
    for (uint32_t g = 0; g < groups->count; g++) {
        struct fmu_group *const group = &groups->groups[g];
        format_text(name, sizeof name, "fmi%d%s%s", fmu->about.version, what, group->type->name);
        const os_function found = os_library_find(library, name);
        if (found == NULL) {
            lacking = fmu->about.version == 2 ? "fmi2Get or fmi2Set of a type" : "fmi3Get or fmi3Set of a type";
            return false;
        }
        group->access_2 = (int (*)(void *, const uint32_t[], size_t, void *))found;
        group->access_3 = (int (*)(void *, const uint32_t[], size_t, void *, size_t))found;
    }
    return true;
}

enum fmu_status fmu_set_starts(struct fmu *fmu)
{
    for (uint32_t i = 0; i < fmu->about.starts; i++) {
        const struct fmu_start *const start = &fmu->about.start[i];
        struct fmu_groups one = {.count = 1, .groups = {{.type = start->type, .count = 1, .references = {start->reference}}}};
        if (!find_access(fmu, &one, "Set")) {
            return FMU_ERROR;
        }
        start->type->write(one.groups[0].values, 0, start->value);
        const int status = access_values(fmu, &one.groups[0]);
        if (status > FMU_WARNING) {
            return (enum fmu_status)status;
        }
    }
    const enum fmu_status status = fmu_set(fmu, &fmu->set);
    return status > FMU_WARNING ? status : fmu_set(fmu, &fmu->set_discrete);
}

/* Releases that were missed are made good by a longer step, where the FMU can do that. Otherwise its time falls behind. */
void fmu_next(const struct fmu *fmu, uint64_t k, double *from_s, double *size_s)
{
    const int64_t end = (int64_t)k + 1;
    *from_s = (double)fmu->done * fmu->period_s;
    *size_s = fmu->about.step_varies && end != fmu->done + 1 ? (double)end * fmu->period_s - *from_s : fmu->period_s;
}

void fmu_advance(struct fmu *fmu, uint64_t k)
{
    fmu->done = fmu->about.step_varies ? (int64_t)k + 1 : fmu->done + 1;
    fmu->code->report->behind = (int64_t)k + 1 - fmu->done;
}

static const char *name_of(enum fmu_status status)
{
    static const char *const names[] = {"OK", "Warning", "Discard", "Error", "Fatal", "Pending"};
    return status <= FMU_PENDING ? names[status] : "a status that the standard does not have";
}

int fmu_ends(struct fmu *fmu, const char *function, enum fmu_status status, double time_s)
{
    const int64_t us = (int64_t)(time_s * US_PER_S + 0.5);
    fmu->can_not_be_freed = status == FMU_FATAL;
    fmu->has_failed = status == FMU_ERROR;
    format_text(fmu->code->report->why, sizeof fmu->code->report->why, "%s returned %s at the simulated time %" PRId64 ".%06" PRId64 " s",
                function, name_of(status), us / US_PER_S, us % US_PER_S);
    return status > FMU_WARNING ? (int)status : FMU_ERROR;
}

bool fmu_went_well(struct fmu *fmu, const char *function, int status)
{
    if (status > FMU_WARNING) {
        (void)fmu_ends(fmu, function, (enum fmu_status)status, 0);
    }
    return status <= FMU_WARNING;
}

int fmu_asked_to_end(struct fmu *fmu, double time_s)
{
    const int64_t us = (int64_t)(time_s * US_PER_S + 0.5);
    format_text(fmu->code->report->why, sizeof fmu->code->report->why,
                "the FMU asked to end the simulation at the simulated time %" PRId64 ".%06" PRId64 " s", us / US_PER_S,
                us % US_PER_S);
    return FMU_ERROR;
}

void fmu_log(struct fmu *fmu, enum fmu_status status, const char *category, const char *message)
{
    char text[MESSAGE_BYTES];
    if (fmu->logged++ < LOGGED_AT_MOST) {
        format_text(text, sizeof text, "%s", message != NULL ? message : "");
        print_error("%s: %s [%s] %s\n", fmu->about.instance_name, name_of(status), category != NULL ? category : "", text);
    } else if (fmu->logged == LOGGED_AT_MOST + 1) {
        print_error("%s: further messages are left out\n", fmu->about.instance_name);
    }
}

static bool is_fmu(const char *text)
{
    static const char ending[] = ".fmu";
    const size_t length = strlen(text);
    return length >= sizeof ending && strcmp(text + length - (sizeof ending - 1), ending) == 0;
}

static void *begin(void)
{
    return interface_of(&the_fmu)->begin(&the_fmu) ? &the_fmu : NULL;
}

static void end(void *context)
{
    (void)context;
    interface_of(&the_fmu)->end(&the_fmu);
}

static void tell_signals(void *context, struct tautochrone_signals *signals)
{
    struct fmu *const fmu = context;
    *signals = (struct tautochrone_signals){
        .inputs = fmu->inputs,
        .outputs = fmu->outputs,
        .in = fmu->in,
        .out = fmu->out,
        .input_names = fmu->input_names,
        .output_names = fmu->output_names,
    };
}

static bool load(struct step_code *code, const char *text, char *why, size_t bytes)
{
    struct fmu *const fmu = &the_fmu;
    if (code->unpacked == NULL) {
        format_text(why, bytes, "--code %s: an FMU has to be unpacked before.\n`tauto step` does that.", text);
        return false;
    }
    if (!fmu_description_read(fmu, code->unpacked, why, bytes)) {
        return false;
    }
    const char *trouble = "";
    library = os_library_open(fmu->about.library, &trouble);
    if (library == NULL) {
        format_text(why, bytes, "%s: the library of the FMU can't be loaded: %s.\nSee that all libraries that it needs are "
                                "installed, and that programs may be run in TMPDIR.",
                    text, trouble);
        return false;
    }
    fmu->code = code;
    fmu->period_s = (double)code->period_ns / (NS_PER_US * (double)US_PER_S);
    interface_of(fmu)->find(fmu);
    if (!find_access(fmu, &fmu->set, "Set") || !find_access(fmu, &fmu->set_discrete, "Set") ||
        !find_access(fmu, &fmu->get, "Get") || fmu_lacks() != NULL) {
        format_text(why, bytes, "%s: the library of the FMU lacks %s.\nThe standard demands it: tell who made the FMU.", text,
                    fmu_lacks());
        return false;
    }
    code->step = interface_of(fmu)->step;
    code->init = begin;
    code->signals = tell_signals;
    code->end = end;
    return true;
}

const struct step_kind step_of_fmu = {.name = "fmu", .knows = is_fmu, .load = load};
