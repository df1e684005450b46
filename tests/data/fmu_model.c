/*
 * An FMU of known behaviour, of FMI 2.0 or 3.0 (-DFMI=2, -DFMI=3), for tests/probe/test_probe_step_fmu.py. In each step:
 *
 *     y = 2 u + offset    x = x + h u    time = end of the step    n_out = -n    b_out = not b    steps = steps + 1
 *
 * `mode` says what it does from step 150 on. The numbers of the variables are those in tests/support/fmus.py.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OK, WARNING, DISCARD, ERROR, FATAL };
enum mode { PLAIN, WORKS, EVENTS, TERMINATES, DISCARDS, FAILS, IS_FATAL, CRASHES, ALLOCATES, EARLY, WARNS, NO_INSTANCE, TALKS, STALLS };
enum { U, OFFSET, Y, X, TIME, N, N_OUT, MODE, STEPS, EVENT_COUNT, B, B_OUT, VARIABLES };
enum { TROUBLE_IN = 150, STALLS_IN = 120, EVENT_EVERY = 10, WORK_NS = 50000, STALL_NS = 9000000 };

struct instance {
    double values[VARIABLES];
    bool in_event_mode, terminated;
    double time, last;
    void *environment;
    void *logger;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct instance *new_instance(const char *resources, const char *token, void *environment, void *logger)
{
    char path[4096];
    const char *const plain = strncmp(resources, "file://", 7) == 0 ? resources + 7 : resources;
    (void)snprintf(path, sizeof path, "%s/offset.txt", plain);
    FILE *const file = fopen(path, "r"); /* it was unpacked, and where it says */
    struct instance *const made = calloc(1, sizeof *made);
    if (file == NULL || made == NULL || strcmp(token, "{token}") != 0 || fscanf(file, "%lf", &made->values[OFFSET]) != 1) {
        return NULL;
    }
    fclose(file);
    made->environment = environment;
    made->logger = logger;
    made->values[B_OUT] = 1;
    return made;
}

/* Returns a status; `end` is where it came to. */
static int simulate(struct instance *my, double from, double size, double *end)
{
    double *const v = my->values;
    const enum mode mode = (enum mode)v[MODE];
    const bool now = v[STEPS] >= TROUBLE_IN;
    *end = from + size;
    const int64_t busy_ns = mode == WORKS ? WORK_NS : mode == STALLS && v[STEPS] == STALLS_IN ? STALL_NS : 0;
    for (const int64_t until = busy_ns > 0 ? now_ns() + busy_ns : 0; busy_ns > 0 && now_ns() < until;) {
    }
    if (now && mode == CRASHES) {
        volatile int *volatile const nowhere = NULL;
        *nowhere = 0;
    }
    if (now && mode == ALLOCATES) {
        for (void *some = malloc(1 << 24); some != NULL; some = malloc(1 << 24)) {
            *(volatile char *)some = 1;
        }
        return ERROR;
    }
    if (now && (mode == TERMINATES || mode == DISCARDS)) {
        my->terminated = mode == TERMINATES;
        my->last = from + size / 2;
        return mode == DISCARDS || FMI == 2 ? DISCARD : OK;
    }
    if (now && mode == FAILS) {
        return ERROR;
    }
    if (now && mode == IS_FATAL) {
        return FATAL;
    }
    if (mode == EARLY && v[STEPS] >= 10 && from == my->last) {
        *end = from + size / 4; /* a quarter, and what is left in the next call */
        size = *end - from;
    } else {
        v[STEPS]++;
        my->last = *end;
    }
    v[Y] = 2 * v[U] + v[OFFSET];
    v[X] += size * v[U];
    v[TIME] = *end;
    v[N_OUT] = -v[N];
    v[B_OUT] = v[B] == 0;
    return mode == WARNS ? WARNING : OK;
}

#define ACCESS(NAME, TYPE)                                                                         \
    int fmi##NAME(void *instance, const uint32_t refs[], size_t count, TYPE values[] SIZE)         \
    {                                                                                              \
        struct instance *const my = instance;                                                      \
        for (size_t i = 0; i < count; i++) {                                                       \
            if (refs[i] >= VARIABLES) {                                                            \
                return ERROR;                                                                      \
            }                                                                                      \
            MOVE(my, my->values[refs[i]], values[i], TYPE);                                        \
        }                                                                                          \
        return OK;                                                                                 \
    }
#define MOVE(MY, OWN, VALUE, TYPE) VALUE = (TYPE)(OWN)

#define ABSENT(NAME) int NAME(void) { return ERROR; }

#if FMI == 2
#define SIZE
ACCESS(2GetReal, double)
ACCESS(2GetInteger, int)
ACCESS(2GetBoolean, int)
#undef MOVE
#define MOVE(MY, OWN, VALUE, TYPE) OWN = (double)(VALUE)
ACCESS(2SetReal, double)
ACCESS(2SetInteger, int)
ACCESS(2SetBoolean, int)

struct callbacks {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*free)(void *);
    void *finished, *environment;
};

void *fmi2Instantiate(const char *name, int type, const char *token, const char *resources, const struct callbacks *calls,
                      int visible, int logging)
{
    (void)name, (void)visible, (void)logging;
    void *const memory = calls->allocate(1, 64); /* both are there, and work */
    calls->free(memory);
    return type == 1 ? new_instance(resources, token, calls->environment, (void *)calls->logger) : NULL;
}

int fmi2SetupExperiment(void *my, int has_tolerance, double tolerance, double start, int has_stop, double stop)
{
    (void)my, (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    return start == 0 ? OK : ERROR;
}

int fmi2EnterInitializationMode(void *my) { return ((struct instance *)my)->values[MODE] == NO_INSTANCE ? ERROR : OK; }
int fmi2ExitInitializationMode(void *my) { return (void)my, OK; }
int fmi2Terminate(void *my) { return (void)my, OK; }
void fmi2FreeInstance(void *my) { free(my); }

int fmi2DoStep(void *instance, double from, double size, int no_going_back)
{
    struct instance *const my = instance;
    double end;
    (void)no_going_back;
    if (my->values[MODE] == TALKS) {
        ((void (*)(void *, const char *, int, const char *, const char *, ...))my->logger)(
            my->environment, "model", WARNING, "told", "step %d of %s", (int)my->values[STEPS], "it");
    }
    return simulate(my, from, size, &end);
}

int fmi2GetRealStatus(void *my, int kind, double *value)
{
    *value = ((struct instance *)my)->last;
    return kind == 2 ? OK : DISCARD;
}

int fmi2GetBooleanStatus(void *my, int kind, int *value)
{
    *value = ((struct instance *)my)->terminated;
    return kind == 3 ? OK : DISCARD;
}
/* The rest of the standard, which other masters look for. */
ABSENT(fmi2CancelStep) ABSENT(fmi2CompletedIntegratorStep) ABSENT(fmi2DeSerializeFMUstate)
ABSENT(fmi2EnterContinuousTimeMode) ABSENT(fmi2EnterEventMode) ABSENT(fmi2FreeFMUstate) ABSENT(fmi2GetContinuousStates)
ABSENT(fmi2GetDerivatives) ABSENT(fmi2GetDirectionalDerivative) ABSENT(fmi2GetEventIndicators) ABSENT(fmi2GetFMUstate)
ABSENT(fmi2GetIntegerStatus) ABSENT(fmi2GetNominalsOfContinuousStates) ABSENT(fmi2GetRealOutputDerivatives)
ABSENT(fmi2GetStatus) ABSENT(fmi2GetString) ABSENT(fmi2GetStringStatus) ABSENT(fmi2GetTypesPlatform)
ABSENT(fmi2GetVersion) ABSENT(fmi2NewDiscreteStates) ABSENT(fmi2Reset) ABSENT(fmi2SerializeFMUstate)
ABSENT(fmi2SerializedFMUstateSize) ABSENT(fmi2SetContinuousStates) ABSENT(fmi2SetDebugLogging) ABSENT(fmi2SetFMUstate)
ABSENT(fmi2SetRealInputDerivatives) ABSENT(fmi2SetString) ABSENT(fmi2SetTime)
#else
#define SIZE , size_t value_count
ACCESS(3GetFloat64, double)
ACCESS(3GetInt32, int32_t)
ACCESS(3GetUInt8, uint8_t)
ACCESS(3GetBoolean, bool)
#undef MOVE
#define MOVE(MY, OWN, VALUE, TYPE) OWN = (double)(VALUE)
ACCESS(3SetFloat64, double)
#undef MOVE
#define MOVE(MY, OWN, VALUE, TYPE) if (refs[i] == N && (MY)->values[STEPS] > 0 && !(MY)->in_event_mode) return ERROR; OWN = (double)(VALUE)
ACCESS(3SetInt32, int32_t)
#undef MOVE
#define MOVE(MY, OWN, VALUE, TYPE) OWN = (double)(VALUE)
ACCESS(3SetUInt8, uint8_t)
ACCESS(3SetBoolean, bool)

void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible, bool logging,
                                  bool events, bool early, const uint32_t *variables, size_t count, void *environment,
                                  void *logger, void *update)
{
    (void)name, (void)visible, (void)logging, (void)variables, (void)count, (void)update;
    const bool is_folder = resources[strlen(resources) - 1] == '/';
    struct instance *const my = is_folder && events && early ? new_instance(resources, token, environment, logger) : NULL;
    if (my != NULL) {
        my->in_event_mode = false;
    }
    return my;
}

int fmi3EnterInitializationMode(void *my, bool has_tolerance, double tolerance, double start, bool has_stop, double stop)
{
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    return ((struct instance *)my)->values[MODE] == NO_INSTANCE || start != 0 ? ERROR : OK;
}

int fmi3ExitInitializationMode(void *my) { return ((struct instance *)my)->in_event_mode = true, OK; }
int fmi3Terminate(void *my) { return (void)my, OK; }
void fmi3FreeInstance(void *my) { free(my); }

int fmi3EnterEventMode(void *instance)
{
    struct instance *const my = instance;
    const int status = my->in_event_mode ? ERROR : OK;
    my->in_event_mode = true;
    return status;
}

int fmi3EnterStepMode(void *instance)
{
    struct instance *const my = instance;
    const int status = my->in_event_mode ? OK : ERROR;
    my->in_event_mode = false;
    return status;
}

int fmi3UpdateDiscreteStates(void *instance, bool *again, bool *terminate, bool *nominals, bool *values, bool *next, double *when)
{
    struct instance *const my = instance;
    my->values[EVENT_COUNT]++;
    *again = (int)my->values[EVENT_COUNT] % 2 == 1; /* each event takes two iterations */
    *terminate = *nominals = *values = *next = false;
    *when = 0;
    return my->in_event_mode ? OK : ERROR;
}

int fmi3DoStep(void *instance, double from, double size, bool no_going_back, bool *event, bool *terminate, bool *early, double *last)
{
    struct instance *const my = instance;
    (void)no_going_back;
    if (my->in_event_mode) {
        return ERROR;
    }
    if (my->values[MODE] == TALKS) {
        char text[64];
        (void)snprintf(text, sizeof text, "step %d of it", (int)my->values[STEPS]);
        ((void (*)(void *, int, const char *, const char *))my->logger)(my->environment, WARNING, "told", text);
    }
    const int status = simulate(my, from, size, last);
    *terminate = my->terminated;
    *early = *last < from + size;
    *event = my->values[MODE] == EVENTS && (int)my->values[STEPS] % EVENT_EVERY == 0;
    return status;
}
/* The rest of the standard, which other masters look for. */
ABSENT(fmi3ActivateModelPartition) ABSENT(fmi3CompletedIntegratorStep) ABSENT(fmi3DeserializeFMUState)
ABSENT(fmi3EnterConfigurationMode) ABSENT(fmi3EnterContinuousTimeMode) ABSENT(fmi3EvaluateDiscreteStates)
ABSENT(fmi3ExitConfigurationMode) ABSENT(fmi3FreeFMUState) ABSENT(fmi3GetAdjointDerivative) ABSENT(fmi3GetBinary)
ABSENT(fmi3GetClock) ABSENT(fmi3GetContinuousStateDerivatives) ABSENT(fmi3GetContinuousStates)
ABSENT(fmi3GetDirectionalDerivative) ABSENT(fmi3GetEventIndicators) ABSENT(fmi3GetFMUState) ABSENT(fmi3GetFloat32)
ABSENT(fmi3GetInt16) ABSENT(fmi3GetInt64) ABSENT(fmi3GetInt8) ABSENT(fmi3GetIntervalDecimal)
ABSENT(fmi3GetIntervalFraction) ABSENT(fmi3GetNominalsOfContinuousStates) ABSENT(fmi3GetNumberOfContinuousStates)
ABSENT(fmi3GetNumberOfEventIndicators) ABSENT(fmi3GetNumberOfVariableDependencies) ABSENT(fmi3GetOutputDerivatives)
ABSENT(fmi3GetShiftDecimal) ABSENT(fmi3GetShiftFraction) ABSENT(fmi3GetString) ABSENT(fmi3GetUInt16)
ABSENT(fmi3GetUInt32) ABSENT(fmi3GetUInt64) ABSENT(fmi3GetVariableDependencies) ABSENT(fmi3GetVersion)
ABSENT(fmi3InstantiateModelExchange) ABSENT(fmi3InstantiateScheduledExecution) ABSENT(fmi3Reset)
ABSENT(fmi3SerializeFMUState) ABSENT(fmi3SerializedFMUStateSize) ABSENT(fmi3SetBinary) ABSENT(fmi3SetClock)
ABSENT(fmi3SetContinuousStates) ABSENT(fmi3SetDebugLogging) ABSENT(fmi3SetFMUState) ABSENT(fmi3SetFloat32)
ABSENT(fmi3SetInt16) ABSENT(fmi3SetInt64) ABSENT(fmi3SetInt8) ABSENT(fmi3SetIntervalDecimal)
ABSENT(fmi3SetIntervalFraction) ABSENT(fmi3SetShiftDecimal) ABSENT(fmi3SetShiftFraction) ABSENT(fmi3SetString)
ABSENT(fmi3SetTime) ABSENT(fmi3SetUInt16) ABSENT(fmi3SetUInt32) ABSENT(fmi3SetUInt64)
#endif
