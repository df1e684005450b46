/* FMI 3.0 for co-simulation. */
#include "fmu.h"

#include "format.h"

enum { ROUNDS = 1000 }; /* of an event's iteration, and of early returns within a step */

typedef void (*log_3)(void *environment, int status, const char *category, const char *message);
typedef void (*intermediate_update)(void *environment, double time_s, bool may_set, bool may_get, bool is_finished,
                                    bool may_return, bool *wants_return, double *return_s);
typedef void *(*instantiate_3)(const char *instance, const char *token, const char *resources, bool visible, bool logging,
                               bool uses_events, bool may_return_early, const uint32_t intermediate[], size_t count,
                               void *environment, log_3 log, intermediate_update update);
typedef int (*do_step_3)(void *instance, double from_s, double size_s, bool no_state_is_set_back, bool *needs_event,
                         bool *terminates, bool *returned_early, double *until_s);
typedef int (*update_3)(void *instance, bool *again, bool *terminates, bool *nominals_changed, bool *values_changed,
                        bool *knows_next, double *next_s);

static struct {
    instantiate_3 instantiate;
    int (*enter_initialization)(void *instance, bool has_tolerance, double tolerance, double start_s, bool has_stop,
                                double stop_s);
    int (*exit_initialization)(void *instance);
    int (*enter_event)(void *instance);
    update_3 update;
    int (*enter_step)(void *instance);
    do_step_3 do_step;
    int (*terminate)(void *instance);
    void (*free_instance)(void *instance);
} fmi3;

static void log_message(void *environment, int status, const char *category, const char *message)
{
    fmu_log(environment, (enum fmu_status)status, category, message);
}

static void find_3(struct fmu *fmu)
{
    fmi3.instantiate = (instantiate_3)fmu_find("fmi3InstantiateCoSimulation");
    fmi3.enter_initialization = (int (*)(void *, bool, double, double, bool, double))fmu_find("fmi3EnterInitializationMode");
    fmi3.exit_initialization = (int (*)(void *))fmu_find("fmi3ExitInitializationMode");
    fmi3.do_step = (do_step_3)fmu_find("fmi3DoStep");
    fmi3.terminate = (int (*)(void *))fmu_find("fmi3Terminate");
    fmi3.free_instance = (void (*)(void *))fmu_find("fmi3FreeInstance");
    if (fmu->about.has_events) {
        fmi3.enter_event = (int (*)(void *))fmu_find("fmi3EnterEventMode");
        fmi3.update = (update_3)fmu_find("fmi3UpdateDiscreteStates");
        fmi3.enter_step = (int (*)(void *))fmu_find("fmi3EnterStepMode");
    }
}

/* From event mode into step mode. Returns 0, or what ends the run. */
static int settle(struct fmu *fmu, double time_s)
{
    bool again = true;
    for (int round = 0; again; round++) {
        bool terminates = false;
        bool nominals_changed = false;
        bool values_changed = false;
        bool knows_next = false;
        double next_s = 0;
        again = false;
        const int status =
            fmi3.update(fmu->instance, &again, &terminates, &nominals_changed, &values_changed, &knows_next, &next_s);
        if (status > FMU_WARNING) {
            return fmu_ends(fmu, "fmi3UpdateDiscreteStates", (enum fmu_status)status, time_s);
        }
        if (terminates) {
            return fmu_asked_to_end(fmu, time_s);
        }
        if (again && round == ROUNDS) {
            return fmu_ends(fmu, "fmi3UpdateDiscreteStates wants to be called without end; it", FMU_OK, time_s);
        }
    }
    const int status = fmi3.enter_step(fmu->instance);
    return status > FMU_WARNING ? fmu_ends(fmu, "fmi3EnterStepMode", (enum fmu_status)status, time_s) : 0;
}

static bool begin_3(struct fmu *fmu)
{
    const struct fmu_description *const about = &fmu->about;
    fmu->instance = fmi3.instantiate(about->instance_name, about->token, about->resources, false, false, about->has_events,
                                     about->returns_early, NULL, 0, fmu, log_message, NULL);
    if (fmu->instance == NULL) {
        format_text(fmu->code->report->why, sizeof fmu->code->report->why, "fmi3InstantiateCoSimulation gave no instance");
        return false;
    }
    return fmu_went_well(fmu, "fmi3Set of the start values", (int)fmu_set_starts(fmu)) &&
           fmu_went_well(fmu, "fmi3EnterInitializationMode",
                     fmi3.enter_initialization(fmu->instance, false, 0, 0, false, 0)) &&
           fmu_went_well(fmu, "fmi3ExitInitializationMode", fmi3.exit_initialization(fmu->instance)) &&
           (!about->has_events || settle(fmu, 0) == 0);
}

/* Where the FMU has an event mode, it takes discrete inputs in that mode only. */
static int set_inputs(struct fmu *fmu, double time_s)
{
    enum fmu_status status = FMU_OK;
    if (fmu_has_changed(fmu)) {
        status = (enum fmu_status)fmi3.enter_event(fmu->instance);
        status = status > FMU_WARNING ? status : fmu_set(fmu, &fmu->set_discrete);
        const int answer = status > FMU_WARNING ? 0 : settle(fmu, time_s);
        if (answer != 0) {
            return answer;
        }
    }
    status = status > FMU_WARNING ? status : fmu_set(fmu, &fmu->set);
    return status > FMU_WARNING ? fmu_ends(fmu, "fmi3Set of the inputs", status, time_s) : 0;
}

/* One call of fmi3DoStep, and the event at its end. Returns 0, or what ends the run; `time_s` is where it came to. */
static int do_step(struct fmu *fmu, double *time_s, double size_s)
{
    bool needs_event = false;
    bool terminates = false;
    bool returned_early = false;
    double until_s = *time_s;
    const int status =
        fmi3.do_step(fmu->instance, *time_s, size_s, true, &needs_event, &terminates, &returned_early, &until_s);
    if (status > FMU_WARNING) {
        return fmu_ends(fmu, "fmi3DoStep", (enum fmu_status)status, *time_s);
    }
    *time_s = returned_early ? until_s : *time_s + size_s;
    if (terminates) {
        return fmu_asked_to_end(fmu, *time_s);
    }
    if (!needs_event || !fmu->about.has_events) {
        return 0;
    }
    const int entered = fmi3.enter_event(fmu->instance);
    return entered > FMU_WARNING ? fmu_ends(fmu, "fmi3EnterEventMode", (enum fmu_status)entered, *time_s)
                                 : settle(fmu, *time_s);
}

static int step_3(void *context, uint64_t k, int64_t t_ns)
{
    struct fmu *const fmu = context;
    double time_s = 0;
    double size_s = 0;
    (void)t_ns;
    fmu_next(fmu, k, &time_s, &size_s);
    const double until_s = time_s + size_s;
    int answer = set_inputs(fmu, time_s);
    for (int round = 0; answer == 0; round++) {
        answer = do_step(fmu, &time_s, size_s);
        if (time_s >= until_s) {
            break;
        }
        size_s = until_s - time_s; /* it returned early */
        if (answer == 0 && round == ROUNDS) {
            answer = fmu_ends(fmu, "fmi3DoStep returns early without end; it", FMU_OK, time_s);
        }
    }
    if (answer != 0) {
        return answer;
    }
    fmu_advance(fmu, k);
    const enum fmu_status status = fmu_get(fmu);
    return status > FMU_WARNING ? fmu_ends(fmu, "fmi3Get of the outputs", status, time_s) : 0;
}

static void end_3(struct fmu *fmu)
{
    if (fmu->instance == NULL || fmu->can_not_be_freed) {
        return;
    }
    if (!fmu->has_failed) {
        (void)fmi3.terminate(fmu->instance);
    }
    fmi3.free_instance(fmu->instance);
}

const struct fmu_interface fmu_interface_3 = {find_3, begin_3, step_3, end_3};
