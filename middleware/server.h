/* The command `serve`: servants of one transport, for one client. */
#ifndef TAUTO_SERVER_H
#define TAUTO_SERVER_H

int server_main(int argc, char **argv);

#endif
