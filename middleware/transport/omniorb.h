/* The parts of the omniORB transport (omniorb.cpp): what each of its files has for the others. */
#ifndef TAUTO_OMNIORB_H
#define TAUTO_OMNIORB_H

/* The probe's own headers are C. */
extern "C" {
#include "transport.h"

#include "format.h"
#include "os/network.h"
}

#include <string>
#include <vector>

#include <omniORB4/CORBA.h>

namespace tauto
{

/* With what both ends need, and `options` besides: words as on a command line. */
CORBA::ORB_ptr begin_orb(const std::vector<std::string> &options);

/* omniorb_server.cpp */
enum os_status serve(struct service *service);
void end_service();

/* omniorb_client.cpp */
enum os_status connect(struct connection **connection, const struct connect_options *options);
void disconnect(struct connection *connection);
enum os_status prepare(struct connection *connection, const struct value *argument);
enum os_status call(struct connection *connection);
enum os_status send(struct connection *connection);
void answer(struct connection *connection, struct value *answer);

} // namespace tauto

#endif
