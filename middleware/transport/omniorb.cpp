/*
 * omniORB: CORBA over TCP, with the stubs and skeletons that omniidl makes of cubit.idl (docs/middleware-omniorb.md).
 *
 * Each servant has an endpoint of its own. The ORB serves each connection with a thread of its pool, which has no
 * priority of its own: an interceptor looks at which endpoint a request came to, and the thread takes on the attributes
 * of the servant that is behind it, unless it has them already (omniorb_server.cpp; the servant itself is in
 * omniorb_cuber.cpp).
 *
 * What the ORB would do by itself and nobody would see is kept from it: it opens no second connection in place of a
 * broken one, which would repeat a call (omniorb_client.cpp), closes none that has rested, and asks no name service.
 */
#include "omniorb.h"

namespace tauto
{

/* With room for the rest of a message. */
static constexpr uint64_t message_bytes = uint64_t{VALUE_LENGTH_LIMIT} * sizeof(CORBA::Long) + 65536;
/* How often the thread of an endpoint wakes up, while calls are served, to see whether a connection needs another thread;
 * here each has one. A new connection, and the end, wake it at once. Usual are 50 ms, on the CPU of the servants. */
static constexpr uint64_t watch_period_us = 3600000000;

/* Whatever would make another middleware of it is said here: no file is read, and options overrule the environment. */
CORBA::ORB_ptr begin_orb(const std::vector<std::string> &options)
{
    std::vector<std::string> words = {
        "tauto",
        "-ORBconfigFile", "/dev/null",
        "-ORBtraceLevel", "0",
        "-ORBgiopMaxMsgSize", std::to_string(message_bytes),
        "-ORBscanGranularity", "0",           /* connections that rest stay */
        "-ORBconnectionWatchPeriod", std::to_string(watch_period_us),
        "-ORBverifyObjectExistsAndType", "0", /* not before the first call: `connect` has asked */
        "-ORBresolveNamesForTransportRules", "0",
        "-ORBclientCallTimeOutPeriod", "0", /* omniorb_patience.h says why */
        "-ORBclientConnectTimeOutPeriod", "0",
        "-ORBserverCallTimeOutPeriod", "0",
    };
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char *> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string &word : words) {
        arguments.push_back(word.data());
    }
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    return CORBA::ORB_init(count, arguments.data());
}

static const char *version()
{
    return omniORB::versionString();
}

} // namespace tauto

const struct transport the_transport = {
    .name = "omniorb",
    .title = "omniORB",
    .version = tauto::version,
    .reliable = true,
    .most_bytes = 0, /* VALUE_LENGTH_LIMIT fits */
    .serve = tauto::serve,
    .end_service = tauto::end_service,
    .connect = tauto::connect,
    .disconnect = tauto::disconnect,
    .prepare = tauto::prepare,
    .call = tauto::call,
    .send = tauto::send,
    .answer = tauto::answer,
};
