/* A program of the user's, started by a command line, as that user would start it. */
#ifndef TAUTO_STEP_PROGRAM_H
#define TAUTO_STEP_PROGRAM_H

#include "child.h"

/* Lies in memory that is shared with the child. */
struct step_program {
    const char *command;  /* for the shell */
    const char *variable; /* of its environment: gets the path of the file that follows; NULL: there is none */
    int file;             /* stays open in it; -1: there is none */
    bool is_ranked;       /* it gets policy and priority */
    struct os_thread_attributes attributes; /* its CPU, too, where one is named */
    enum os_status status; /* why it could not be started */
};

/* In the child, for step_child_start: goes on as the program. */
void step_program_live(void *program);
/* SIGTERM. */
void step_program_ask_to_end(const struct step_child *child);

/* Memory that a program can open by a path, zeroed and touched; `*file` stays open until the process ends. */
enum os_status step_memory_for_program(void **memory, size_t bytes, int *file);

#endif
