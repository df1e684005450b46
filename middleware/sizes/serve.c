/* The servants and nothing else: what a server needs of its middleware, weighed when it is linked. */
#include "server.h"

int main(int argc, char **argv)
{
    return server_main(argc - 1, argv + 1);
}
