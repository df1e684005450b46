/*
 * Both ends of what is measured: the options that say where client and server run and how urgent they are, and the
 * server as its client sees it: started here as a child process, or met where it runs.
 */
#ifndef TAUTO_ENDS_H
#define TAUTO_ENDS_H

#include "control.h"
#include "transport.h"

#include "experiment/stage_options.h"
#include "os/identity.h"

enum ends_place { ENDS_SAME, ENDS_DIFFERENT, ENDS_FREE };

struct ends_options {
    const char *cpus_text; /* NULL: the first two that there are */
    int place;             /* enum ends_place */
    int policy;            /* enum os_policy */
    int64_t priority;      /* of the most urgent threads on both sides; 0 where the policy has none */
    int32_t below_highest;
    const char *server; /* HOST:PORT of one that runs already, or NULL */
    int64_t patience_ns;
    int64_t service_time_ns;
    struct conditions conditions;

    /* After ends_options_check. */
    int32_t client_cpu; /* or OS_CPU_ANY */
    int32_t server_cpu;
};

/* CONDITION_OPTIONS must be the last: they are among these. */
#define ENDS_OPTIONS(target)                                                                                          \
    {"cpus", OPTION_TEXT, &(target)->cpus_text, NULL, "the client's CPU and the server's: 0,1 [the first two]",       \
     false},                                                                                                          \
        {"place", OPTION_CHOICE, &(target)->place, ends_places, "both ends on one CPU, on two, or anywhere [same]",   \
         false},                                                                                                      \
        {"policy", OPTION_CHOICE, &(target)->policy, stage_policies, "[fifo]", false},                                \
        {"priority", OPTION_COUNT, &(target)->priority, NULL, "of the most urgent thread at each end [90 on Linux]",  \
         false},                                                                                                      \
        {"server", OPTION_TEXT, &(target)->server, NULL, "HOST:PORT of one that runs already [started here]", false}, \
        {"patience", OPTION_DURATION, &(target)->patience_ns, NULL, "longest wait for one answer [1s]", false},       \
        {"service-time", OPTION_DURATION, &(target)->service_time_ns, NULL,                                           \
         "each request keeps its servant so long [0]", false},                                                        \
        CONDITION_OPTIONS(&(target)->conditions)

extern const char *const ends_places[];

struct ends_options ends_options_default(void);
/* After reading the command line. `levels` is how many priorities are needed, from the most urgent one downward. False after
 * telling what is wrong; `code` is then the program's exit code. */
bool ends_options_check(struct ends_options *options, int32_t levels, int *code);
/* Of the client's thread `number` (and of the servant of that number): 0 is the most urgent. */
struct os_thread_attributes ends_client_attributes(const struct ends_options *options, uint32_t number);

/* ---- The server ------------------------------------------------------------- */

struct servant_seen {
    char endpoint[ENDPOINT_BYTES];
    struct os_thread_attributes requested;
    int64_t thread; /* the system's number of the thread that served it last; 0: none yet */
    struct os_thread_obtained obtained;
    uint64_t two_way; /* served so far */
    uint64_t one_way;
};

struct server_seen {
    struct control control;
    struct os_mutex *guard;     /* of it, where client threads ask how the server is */
    struct os_process *process; /* NULL: it was not started here */
    struct servant_seen *servants;
    uint32_t count;
    bool has_our_clock; /* it reads the same measuring clock */
    char failure[CONTROL_LINE_BYTES]; /* of a servant, in its own words */
};

/* Starts the server or meets it, and learns where its servants are. Returns an exit code; refusals are told. */
int server_open(struct server_seen *server, const struct ends_options *options, uint32_t servants);
/* It ends, and is waited for where it was started here. */
void server_close(struct server_seen *server);
/* Which thread serves each servant, and how many requests each has served. False: the server has gone, or a servant
 * can't go on, which is then `told`: text that stays until the next call. */
bool server_ask_threads(struct server_seen *server, const char **told);
bool server_ask_served(struct server_seen *server, const char **told);
/* For any other question (control.h): `take` gets each line of the answer. */
bool server_ask(struct server_seen *server, const char *question, void (*take)(void *context, char *line),
                void *context, const char **told);
/* Has it ended? For any client thread, as the next; while nobody asks a question. */
bool server_has_gone(struct server_seen *server);
/* Why a call ended with `status`, in words. */
const char *server_why(struct server_seen *server, enum os_status status);

/* Keys of the header. */
void ends_to_json(struct json *json, const struct ends_options *options, const struct server_seen *server);
/* "partners" of a source that calls this servant, or several of them. */
void servant_to_json(struct json *json, const struct servant_seen *servant);
void servants_to_json(struct json *json, const struct servant_seen *servants, uint32_t count);

#endif
