/*
 * Background loads: named, bounded, self-ending. `tauto-agent load NAME` says "running" on standard output when each
 * of its threads has done its first piece of work, and at the end what all of them really did, each as one line of
 * JSON. It ends after its time, on a signal, or when standard input ends, so that it never outlives whoever started
 * it. One that can't go on says why and ends with an exit code of its own.
 */
#ifndef TAUTO_LOAD_H
#define TAUTO_LOAD_H

#include "message.h"
#include "options.h"
#include "os/os.h"
#include "record/json.h"

#include <stdatomic.h>

enum { LOAD_OWN_OPTIONS = 12 };

struct load;

/* One load as it was asked for. */
struct load_run {
    const struct load *load;
    void *settings; /* the load's own, `settings_bytes` long, zeroed before `options` fills it */
    int64_t duration_ns;
    struct cpu_list cpus;
    enum os_policy policy;
    int64_t priority; /* the system's own number; policies fifo and rr only */
    int32_t below_highest;
    int64_t nice;              /* of ordinary threads: 0 to 19 */
    int64_t start_patience_ns; /* until each thread has done something; `prepare` may give them more time */
    bool roams;                /* `prepare`: its threads may run on any of the CPUs; otherwise each is pinned to one */
    uint32_t threads; /* one for each CPU, unless `prepare` says otherwise; thread i runs on CPU i modulo their count */
    int argc;         /* what stood behind "--"; 0 for most loads */
    char **argv;
};

/* One thread of it. */
struct load_thread {
    const struct load_run *run;
    uint32_t index;
    int32_t cpu;
    int64_t until_ns;
    struct os_thread *thread;
    _Atomic uint64_t operations; /* counts what `unit` names */
    _Atomic uint64_t bytes;      /* moved; 0 where that means nothing */
    _Atomic bool takes_part;     /* set by load_takes_part() */
    atomic_bool has_ended;
    enum exit_code failure_code; /* EXIT_MEASURED: it did not fail */
    char failure[320];
    int64_t cpu_time_ns;
};

struct load {
    const char *name;
    const char *summary;
    const char *unit; /* of `operations` */
    enum os_policy usual_policy;
    bool may_be_real_time; /* its threads sleep often enough for policy fifo to be harmless */
    bool takes_command;    /* words behind "--" */
    bool keeps_cpus_busy;  /* its threads never wait: with little CPU time, it did not load */
    size_t settings_bytes;
    /* Writes its defaults into the settings, its options (at most LOAD_OWN_OPTIONS) into the table, and returns how many
     * there are. NULL: no options of its own. */
    size_t (*options)(void *settings, struct option *table);
    /* Checks what was asked for, says how many threads there are, opens what they share. Returns an exit code;
     * refusals are told. NULL: nothing to do. */
    int (*prepare)(struct load_run *run);
    /* Until load_must_end(), or until load_failed() was called. */
    void (*work)(struct load_thread *thread);
    /* After all threads have ended: adds to the report, closes what `prepare` opened. NULL: nothing to do. Also called,
     * with `report` NULL, when threads could not be started. */
    void (*finish)(struct load_run *run, struct json *report);
};

extern const struct load load_cpu;
extern const struct load load_storage;
extern const struct load load_fork;
extern const struct load load_exit;
extern const struct load load_munmap;
extern const struct load load_thp;
extern const struct load load_pipe;
extern const struct load load_command;
extern const struct load load_memory;
extern const struct load load_bandwidth;
extern const struct load load_tasks;
extern const struct load load_comms;
extern const struct load load_network;
extern const struct load load_irq;

/* Ask it between pieces of work that last no longer than some 10 ms. */
bool load_must_end(const struct load_thread *thread);
/* Adds to what the thread did. */
void load_did(struct load_thread *thread, uint64_t operations, uint64_t bytes);
/* The thread has done its first piece of work, though others count what was done. */
void load_takes_part(struct load_thread *thread);
/* The load can't go on: `what` could not be done, for the reason that `status` names; OS_OK: `what` says it all. The
 * thread then returns. A load that failed gives no report. */
void load_failed(struct load_thread *thread, const char *what, enum os_status status);
/* The same as a whole sentence, and with an exit code of its own. */
__attribute__((format(printf, 3, 4))) void load_failed_because(struct load_thread *thread, enum exit_code code,
                                                               const char *format, ...);

/* The command. Returns the exit code of the program. */
int load_main(int argc, char **argv);

#endif
