/* The far side of a connection: what ends with it, and what is put back when it ends. Each returns an exit code. */
#ifndef TAUTO_AGENT_H
#define TAUTO_AGENT_H

/* Runs another program as long as somebody speaks to it; docs/agent.md. */
int guard_main(int argc, char **argv);
/* Reads files and changes settings as it is told, and puts back what it changed; docs/agent.md. */
int keep_main(int argc, char **argv);
/* Claims the machine until its input ends; docs/agent.md. */
int claim_main(int argc, char **argv);

#endif
