/* FMI 2.0 for co-simulation. */
#include "fmu.h"

#include "format.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { CO_SIMULATION = 1, LAST_SUCCESSFUL_TIME = 2, TERMINATED = 3, MESSAGE_BYTES = 1000, NO = 0, YES = 1 };

typedef void (*logger_2)(void *environment, const char *instance, int status, const char *category, const char *message, ...);

struct callbacks {
    logger_2 logger;
    void *(*allocate)(size_t count, size_t bytes);
    void (*free)(void *memory);
    void (*step_finished)(void *environment, int status);
    void *environment;
};

static struct {
    void *(*instantiate)(const char *instance, int type, const char *guid, const char *resources,
                         const struct callbacks *callbacks, int visible, int logging);
    int (*setup_experiment)(void *instance, int has_tolerance, double tolerance, double start_s, int has_stop, double stop_s);
    int (*enter_initialization)(void *instance);
    int (*exit_initialization)(void *instance);
    int (*do_step)(void *instance, double from_s, double size_s, int no_state_is_set_back);
    int (*real_status)(void *instance, int kind, double *value);
    int (*boolean_status)(void *instance, int kind, int *value);
    int (*terminate)(void *instance);
    void (*free_instance)(void *instance);
} fmi2;

/* Its text is a format of printf, as the standard has it. */
static void log_message(void *environment, const char *instance, int status, const char *category, const char *message, ...)
{
    char text[MESSAGE_BYTES] = "";
    va_list arguments;
    (void)instance;
    va_start(arguments, message);
    if (message != NULL) {
        (void)vsnprintf(text, sizeof text, message, arguments);
    }
    va_end(arguments);
    fmu_log(environment, (enum fmu_status)status, category, text);
}

/* What it is given must live as long as the instance. */
static struct callbacks callbacks = {.logger = log_message, .allocate = calloc, .free = free};

static void find_2(struct fmu *fmu)
{
    (void)fmu;
    fmi2.instantiate = (void *(*)(const char *, int, const char *, const char *, const struct callbacks *, int, int))fmu_find(
        "fmi2Instantiate");
    fmi2.setup_experiment = (int (*)(void *, int, double, double, int, double))fmu_find("fmi2SetupExperiment");
    fmi2.enter_initialization = (int (*)(void *))fmu_find("fmi2EnterInitializationMode");
    fmi2.exit_initialization = (int (*)(void *))fmu_find("fmi2ExitInitializationMode");
    fmi2.do_step = (int (*)(void *, double, double, int))fmu_find("fmi2DoStep");
    fmi2.real_status = (int (*)(void *, int, double *))fmu_find("fmi2GetRealStatus");
    fmi2.boolean_status = (int (*)(void *, int, int *))fmu_find("fmi2GetBooleanStatus");
    fmi2.terminate = (int (*)(void *))fmu_find("fmi2Terminate");
    fmi2.free_instance = (void (*)(void *))fmu_find("fmi2FreeInstance");
}

static bool begin_2(struct fmu *fmu)
{
    const struct fmu_description *const about = &fmu->about;
    callbacks.environment = fmu;
    fmu->instance =
        fmi2.instantiate(about->instance_name, CO_SIMULATION, about->token, about->resources, &callbacks, NO, NO);
    if (fmu->instance == NULL) {
        format_text(fmu->code->report->why, sizeof fmu->code->report->why, "fmi2Instantiate gave no instance");
        return false;
    }
    return fmu_went_well(fmu, "fmi2SetupExperiment", fmi2.setup_experiment(fmu->instance, NO, 0, 0, NO, 0)) &&
           fmu_went_well(fmu, "fmi2Set of the start values", (int)fmu_set_starts(fmu)) &&
           fmu_went_well(fmu, "fmi2EnterInitializationMode", fmi2.enter_initialization(fmu->instance)) &&
           fmu_went_well(fmu, "fmi2ExitInitializationMode", fmi2.exit_initialization(fmu->instance));
}

/* A step is not tried again: its state would have to be kept before each of them, which takes time in all of them. */
static int discarded(struct fmu *fmu, double from_s)
{
    int terminated = NO;
    double until_s = from_s;
    if (fmi2.real_status(fmu->instance, LAST_SUCCESSFUL_TIME, &until_s) > FMU_WARNING) {
        until_s = from_s;
    }
    if (fmi2.boolean_status(fmu->instance, TERMINATED, &terminated) <= FMU_WARNING && terminated != NO) {
        return fmu_asked_to_end(fmu, until_s);
    }
    return fmu_ends(fmu, "fmi2DoStep", FMU_DISCARD, until_s);
}

static int step_2(void *context, uint64_t k, int64_t t_ns)
{
    struct fmu *const fmu = context;
    double from_s = 0;
    double size_s = 0;
    (void)t_ns;
    fmu_next(fmu, k, &from_s, &size_s);
    enum fmu_status status = fmu_set(fmu, &fmu->set);
    if (status > FMU_WARNING) {
        return fmu_ends(fmu, "fmi2Set of the inputs", status, from_s);
    }
    status = (enum fmu_status)fmi2.do_step(fmu->instance, from_s, size_s, YES);
    if (status == FMU_DISCARD) {
        return discarded(fmu, from_s);
    }
    if (status > FMU_WARNING) {
        return fmu_ends(fmu, "fmi2DoStep", status, from_s);
    }
    fmu_advance(fmu, k);
    status = fmu_get(fmu);
    return status > FMU_WARNING ? fmu_ends(fmu, "fmi2Get of the outputs", status, from_s + size_s) : 0;
}

static void end_2(struct fmu *fmu)
{
    if (fmu->instance == NULL || fmu->can_not_be_freed) {
        return;
    }
    if (!fmu->has_failed) {
        (void)fmi2.terminate(fmu->instance);
    }
    fmi2.free_instance(fmu->instance);
}

const struct fmu_interface fmu_interface_2 = {find_2, begin_2, step_2, end_2};
