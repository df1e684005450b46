/*
 * A functional mock-up unit (FMI 2.0.x and 3.0.x, co-simulation; fmi-standard.org). tauto unpacks it, reads its
 * modelDescription.xml and hands on what follows from that (docs/step.md): here only its library is loaded and called. The
 * declarations are those of the standard that are needed, in our own words.
 */
#ifndef TAUTO_STEP_FMU_H
#define TAUTO_STEP_FMU_H

#include "kind.h"

enum { FMU_TYPES = 12, FMU_NAME_BYTES = 256 };

/* As both standards number them; `pending` is of FMI 2 alone. */
enum fmu_status { FMU_OK, FMU_WARNING, FMU_DISCARD, FMU_ERROR, FMU_FATAL, FMU_PENDING };

/* The variables of one type, which one call sets or gets. */
struct fmu_group {
    const struct fmu_type *type;
    int (*access_2)(void *instance, const uint32_t references[], size_t count, void *values);
    int (*access_3)(void *instance, const uint32_t references[], size_t count, void *values, size_t values_count);
    uint32_t count;
    uint32_t references[STEP_SIGNALS_LIMIT];
    uint32_t places[STEP_SIGNALS_LIMIT]; /* among all inputs, or outputs */
    double given[STEP_SIGNALS_LIMIT];    /* what was set last, before the FMU's type made something of it */
    _Alignas(8) unsigned char values[STEP_SIGNALS_LIMIT * sizeof(double)]; /* as the FMU has them */
};

struct fmu_groups {
    uint32_t count;
    struct fmu_group groups[FMU_TYPES];
};

/* A value that a variable has before the first step, other than the FMU's own. */
struct fmu_start {
    const struct fmu_type *type;
    uint32_t reference;
    double value;
};

struct fmu_description {
    int version; /* 2 or 3 */
    const char *library;
    const char *instance_name;
    const char *token;     /* GUID, instantiationToken */
    const char *resources; /* a URI for FMI 2, a path for FMI 3 */
    bool step_varies;      /* communication steps may have different lengths */
    bool has_events;       /* FMI 3: an event mode, */
    bool returns_early;    /* or an end of a step before its time */
    uint32_t starts;
    struct fmu_start start[STEP_SIGNALS_LIMIT];
};

struct fmu {
    struct fmu_description about;
    struct step_code *code;
    void *instance;
    double period_s;
    int64_t done; /* how many periods are simulated: its time is that times period_s */
    uint32_t inputs;
    uint32_t outputs;
    double in[STEP_SIGNALS_LIMIT];
    double out[STEP_SIGNALS_LIMIT];
    const char *input_names[STEP_SIGNALS_LIMIT];
    const char *output_names[STEP_SIGNALS_LIMIT];
    struct fmu_groups set;          /* before each step */
    struct fmu_groups set_discrete; /* where the FMU has an event mode: when one of them changes, in that mode */
    struct fmu_groups get;          /* after it */
    bool has_failed;                /* after an error it may only be freed, */
    bool can_not_be_freed;          /* and after a fatal one nothing of it may be called */
    uint32_t logged;                /* messages so far */
};

/* How one type's values are turned into doubles, and back. */
struct fmu_type {
    const char *name; /* as in fmi2GetReal, fmi3GetFloat64 */
    int version;
    size_t bytes;
    double (*read)(const void *values, size_t place);
    void (*write)(void *values, size_t place, double value);
};

/* NULL: there is none of this name in this version. */
const struct fmu_type *fmu_type_of(int version, const char *name);
/* Reads what tauto wrote into the folder. False: `why` has the reason. */
bool fmu_description_read(struct fmu *fmu, const char *folder, char *why, size_t bytes);
/* True: all are set or got, with a warning at most; otherwise the status says why not. */
enum fmu_status fmu_set(const struct fmu *fmu, struct fmu_groups *groups);
enum fmu_status fmu_get(struct fmu *fmu);
/* Sets the values that are not the FMU's own, and all inputs, before its initialisation is over. */
enum fmu_status fmu_set_starts(struct fmu *fmu);
/* Of discrete inputs: has one of them another value than when it was set last? */
bool fmu_has_changed(const struct fmu *fmu);
/* How far the step of release k goes: where from, and how far. */
void fmu_next(const struct fmu *fmu, uint64_t k, double *from_s, double *size_s);
/* After it: that time is simulated now. */
void fmu_advance(struct fmu *fmu, uint64_t k);
/* Says why it ended, with the time of the simulation in seconds, and returns what ends the run. */
int fmu_ends(struct fmu *fmu, const char *function, enum fmu_status status, double time_s);
/* Of a call before the first step: false, it did not, and why is kept. */
bool fmu_went_well(struct fmu *fmu, const char *function, int status);
/* The FMU asked for the end. */
int fmu_asked_to_end(struct fmu *fmu, double time_s);
/* A message of the FMU's own, on standard error; there is an end to them. */
void fmu_log(struct fmu *fmu, enum fmu_status status, const char *category, const char *message);
/* Finds a function of the library. NULL: it is not there, and `fmu_lacks` tells the first of those. */
typedef void (*fmu_function)(void);
fmu_function fmu_find(const char *name);
const char *fmu_lacks(void);

/* Of each version: finds its functions; brings an instance to its first step, tells what went wrong otherwise; a step;
 * the end. */
struct fmu_interface {
    void (*find)(struct fmu *fmu);
    bool (*begin)(struct fmu *fmu);
    int (*step)(void *fmu, uint64_t k, int64_t t_ns);
    void (*end)(struct fmu *fmu);
};
extern const struct fmu_interface fmu_interface_2;
extern const struct fmu_interface fmu_interface_3;

#endif
