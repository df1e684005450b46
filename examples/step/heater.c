/*
 * An FMU (FMI 2.0, co-simulation) in one file: a room that is heated. `heater.sh` builds it, heater.xml describes it:
 *
 *     examples/step/heater.sh
 *     tauto step heater.fmu --rate 1kHz --input power=2000 --input outside=-5
 *
 * What is declared here is what a master calls of the standard's functions; its headers have them all.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, ERROR = 3, CO_SIMULATION = 1 };
enum { POWER, OUTSIDE, TEMPERATURE, CAPACITY, LOSS, VARIABLES }; /* the value references in heater.xml */

struct callbacks {
    void (*logger)(void *environment, const char *instance, int status, const char *category, const char *message, ...);
    void *(*allocate)(size_t count, size_t bytes);
    void (*free)(void *memory);
    void (*step_finished)(void *environment, int status);
    void *environment;
};

struct room {
    double value[VARIABLES];
    const struct callbacks *callbacks;
};

void *fmi2Instantiate(const char *instance, int type, const char *guid, const char *resources,
                      const struct callbacks *callbacks, int visible, int logging)
{
    (void)instance, (void)resources, (void)visible, (void)logging;
    if (type != CO_SIMULATION || strcmp(guid, "{heater-1}") != 0) {
        return NULL;
    }
    struct room *const room = callbacks->allocate(1, sizeof *room);
    if (room != NULL) {
        *room = (struct room){.value = {0, 0, 20, 50000, 60}, .callbacks = callbacks};
    }
    return room;
}

int fmi2SetupExperiment(void *room, int has_tolerance, double tolerance, double start_s, int has_stop, double stop_s)
{
    (void)room, (void)has_tolerance, (void)tolerance, (void)start_s, (void)has_stop, (void)stop_s;
    return OK;
}

int fmi2EnterInitializationMode(void *room)
{
    return room != NULL ? OK : ERROR;
}

int fmi2ExitInitializationMode(void *room)
{
    return room != NULL ? OK : ERROR;
}

int fmi2SetReal(void *instance, const unsigned references[], size_t count, const double values[])
{
    struct room *const room = instance;
    for (size_t i = 0; i < count; i++) {
        if (references[i] >= VARIABLES) {
            return ERROR;
        }
        room->value[references[i]] = values[i];
    }
    return OK;
}

int fmi2GetReal(void *instance, const unsigned references[], size_t count, double values[])
{
    const struct room *const room = instance;
    for (size_t i = 0; i < count; i++) {
        if (references[i] >= VARIABLES) {
            return ERROR;
        }
        values[i] = room->value[references[i]];
    }
    return OK;
}

int fmi2DoStep(void *instance, double from_s, double size_s, int no_state_is_set_back)
{
    double *const v = ((struct room *)instance)->value;
    (void)from_s, (void)no_state_is_set_back;
    v[TEMPERATURE] += size_s * (v[POWER] - v[LOSS] * (v[TEMPERATURE] - v[OUTSIDE])) / v[CAPACITY];
    return OK;
}

/* Nothing here is ever discarded, so that nobody asks how far a step came. */
int fmi2GetRealStatus(void *room, int kind, double *value)
{
    (void)room, (void)kind, (void)value;
    return ERROR;
}

int fmi2GetBooleanStatus(void *room, int kind, int *value)
{
    (void)room, (void)kind, (void)value;
    return ERROR;
}

int fmi2Terminate(void *room)
{
    return room != NULL ? OK : ERROR;
}

void fmi2FreeInstance(void *instance)
{
    struct room *const room = instance;
    room->callbacks->free(room);
}
