/* The server's side of omniORB (omniorb.cpp): endpoints, and the priority of the thread that serves each request. */
#include "omniorb.h"
#include "omniorb_cuber.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <pthread.h>
#include <stdexcept>

#include <omniORB4/internal/objectAdapter.h>
#include <omniORB4/omniInterceptors.h>

namespace tauto
{

namespace
{

constexpr size_t stack_bytes = size_t{256} * 1024; /* as os_thread_create gives */

/* Each servant listens, has a pipe by which its listener is woken, and one connection; room for another one. */
constexpr uint64_t files_per_servant = 5;
constexpr uint64_t files_beside = 32;

struct door {
    unsigned long port;
    station *behind;
};

struct server {
    CORBA::ORB_var orb;
    std::vector<std::unique_ptr<station>> stations;
    std::vector<door> doors; /* by port */
};

/* Interceptors are functions without an object. One in each process. The ORB listens before we know where: `open_doors`
 * is for its threads, and NULL until they all are known. */
std::unique_ptr<server> the_server;
std::atomic<const std::vector<door> *> open_doors{nullptr};

/* Whose attributes the calling thread has, as far as they were given to it here. Its address tells threads apart. */
thread_local const station *attributes_of = nullptr;

/* "giop:tcp:127.0.0.1:4711", "giop:tcp:[::1]:4711" */
unsigned long port_of(const char *address)
{
    const char *const colon = std::strrchr(address, ':');
    return colon != nullptr ? std::strtoul(colon + 1, nullptr, 10) : 0;
}

station *behind(unsigned long port)
{
    const std::vector<door> *const doors = open_doors.load(std::memory_order_acquire);
    if (doors == nullptr) {
        return nullptr;
    }
    const auto found = std::lower_bound(doors->begin(), doors->end(), port,
                                        [](const door &door, unsigned long wanted) { return door.port < wanted; });
    return found != doors->end() && found->port == port ? found->behind : nullptr;
}

void take_on_attributes(station &station)
{
    const enum os_status status = os_thread_adopt(servant_attributes(station.servant));
    if (status != OS_OK) {
        const turn_of mine(station);
        if (station.failure.empty()) {
            station.failure = std::string("the thread that serves it can't take on its policy, priority and CPU: ") +
                              os_status_text(status);
            servant_fail(station.servant, station.failure.c_str());
        }
    }
    attributes_of = &station; /* also after a failure, which is told once */
}

/* With every request: a comparison or two, and no system call, for a thread that serves the same servant again. */
void serve_here(const char *address)
{
    station *const station = behind(port_of(address));
    if (station == nullptr) {
        return;
    }
    const bool is_new_here = attributes_of != station;
    if (is_new_here) {
        take_on_attributes(*station);
    }
    if (is_new_here || station->served_by.load(std::memory_order_relaxed) != &attributes_of) {
        servant_is_served_here(station->servant);
        station->served_by.store(&attributes_of, std::memory_order_relaxed);
    }
}

CORBA::Boolean on_receive(omni::omniInterceptors::serverReceiveRequest_T::info_T &request)
{
    serve_here(request.myaddress());
    return true;
}

/* By the thread that is to serve the connection: so that even its first request finds it at its priority. */
CORBA::Boolean on_accept(omni::omniInterceptors::serverAcceptConnection_T::info_T &connection)
{
    serve_here(connection.myaddress());
    return true;
}

/* Around all that a thread does before it goes back to the pool of all threads, where other work may find it. */
void on_assign(omni::omniInterceptors::assignUpcallThread_T::info_T &thread)
{
    thread.run();
    if (attributes_of != nullptr) {
        os_thread_become_ordinary();
        attributes_of = nullptr;
    }
}

/* ---- Serving ------------------------------------------------------------------ */

/* The ORB's threads leave signals to ours, but for the two that a thread that measures takes too. They inherit this
 * from whoever starts them. */
class signals_elsewhere
{
  public:
    signals_elsewhere()
    {
        sigset_t all;
        sigfillset(&all);
        sigdelset(&all, SIGUSR1);
        sigdelset(&all, SIGXCPU);
        pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~signals_elsewhere()
    {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    signals_elsewhere(const signals_elsewhere &) = delete;
    signals_elsewhere &operator=(const signals_elsewhere &) = delete;

  private:
    sigset_t before;
};

void nothing_to_do(void *)
{
}

/* What the first connection would find out too late: the priority is not permitted, there is no such CPU. */
enum os_status try_attributes(const struct service &service)
{
    enum os_status status = OS_OK;
    for (uint32_t i = 0; i < service.count && status == OS_OK; i++) {
        struct os_thread *thread = nullptr;
        status = os_thread_create(&thread, servant_attributes(service.servants[i]), nothing_to_do, nullptr);
        if (status == OS_OK) {
            os_thread_join(thread);
        }
    }
    return status;
}

std::string host_in_uri(const char *address)
{
    return std::strchr(address, ':') != nullptr ? "[" + std::string(address) + "]" : address;
}

/* A thread for each connection, and never a second one: requests of one client are served in their order. */
std::vector<std::string> server_options(const struct service &service)
{
    std::vector<std::string> options = {
        "-ORBthreadPerConnectionPolicy", "1",
        "-ORBmaxServerThreadPerConnection", "1",
    };
    for (uint32_t i = 0; i < service.count; i++) {
        options.emplace_back("-ORBendPoint");
        options.push_back("giop:tcp:" + host_in_uri(service.address) + ":0");
    }
    return options;
}

void add_interceptors()
{
    omni::omniInterceptors *const interceptors = omniORB::getInterceptors();
    interceptors->serverReceiveRequest.add(on_receive);
    interceptors->serverAcceptConnection.add(on_accept);
    interceptors->assignUpcallThread.add(on_assign);
}

std::string key_of(uint32_t number)
{
    return "servant-" + std::to_string(number);
}

void activate(PortableServer::POA_ptr poa, uint32_t number)
{
    const PortableServer::Servant_var<PortableServer::ServantBase> servant = make_cuber(*the_server->stations[number]);
    const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(key_of(number).c_str());
    poa->activate_object_with_id(id, servant);
}

/* "giop:tcp:HOST:PORT" in the order in which they were asked for; an address that stands for several has them all, with
 * one port. */
bool find_endpoints(const struct service &service)
{
    const auto &addresses = omni::omniObjAdapter::listMyEndpoints();
    uint32_t found = 0;
    unsigned long last = 0;
    for (CORBA::ULong i = 0; i < addresses.length(); i++) {
        const char *const address = addresses[i];
        const unsigned long port = port_of(address);
        if (port == last || std::strncmp(address, "giop:tcp:", 9) != 0) {
            continue;
        }
        last = port;
        if (found == service.count) {
            return false;
        }
        const std::string uri = std::string("corbaloc:iiop:1.2@") + (address + 9) + "/" + key_of(found);
        if (uri.size() >= ENDPOINT_BYTES) {
            return false;
        }
        std::memcpy(service.endpoints[found], uri.c_str(), uri.size() + 1);
        the_server->doors.push_back({port, the_server->stations[found].get()});
        found++;
    }
    std::sort(the_server->doors.begin(), the_server->doors.end(),
              [](const door &one, const door &other) { return one.port < other.port; });
    return found == service.count;
}

void open_server(const struct service &service)
{
    the_server = std::make_unique<server>();
    for (uint32_t i = 0; i < service.count; i++) {
        the_server->stations.push_back(std::make_unique<station>());
        station &made = *the_server->stations.back();
        made.servant = service.servants[i];
        if (os_mutex_create(&made.turn, OS_MUTEX_INHERIT, 0) != OS_OK &&
            os_mutex_create(&made.turn, OS_MUTEX_NONE, 0) != OS_OK) {
            throw std::bad_alloc();
        }
    }
    omni_thread::stacksize(stack_bytes);
    the_server->orb = begin_orb(server_options(service));
    add_interceptors();
    const CORBA::Object_var object = the_server->orb->resolve_initial_references("omniINSPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    for (uint32_t i = 0; i < service.count; i++) {
        activate(poa, i);
    }
    if (!find_endpoints(service)) {
        throw std::runtime_error("it listens elsewhere too: ORBendPoint must not be set");
    }
    open_doors.store(&the_server->doors, std::memory_order_release);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
}

void close_server()
{
    try {
        if (the_server != nullptr && !CORBA::is_nil(the_server->orb)) {
            the_server->orb->destroy(); /* which waits for what is being served */
        }
    } catch (const CORBA::SystemException &) {
        /* it has ended, or never quite begun */
    }
    open_doors.store(nullptr, std::memory_order_relaxed);
    the_server.reset();
}

std::string words_of(const CORBA::SystemException &exception)
{
    const char *const minor = exception.NP_minorString();
    return std::string(exception._name()) + (minor != nullptr ? std::string(", ") + minor : "");
}

/* The ORB says only that it can't. */
enum os_status try_address(struct service &service)
{
    uint64_t most = 0;
    const uint64_t needed = files_beside + files_per_servant * service.count;
    if (os_network_allow(needed, &most) != OS_OK) {
        format_text(service.refusal, sizeof service.refusal,
                    "%u servants need about %llu open files, and ulimit -n allows %llu", service.count,
                    static_cast<unsigned long long>(needed), static_cast<unsigned long long>(most));
        return OS_NO_MEMORY;
    }
    struct os_socket socket;
    const enum os_status status = os_network_listen(&socket, service.address, 0, 1);
    if (status == OS_OK) {
        os_network_close(&socket);
    }
    return status;
}

enum os_status refuse(struct service &service, const std::string &why)
{
    format_text(service.refusal, sizeof service.refusal, "omniORB refuses it (%s)", why.c_str());
    close_server();
    return OS_FAILED;
}

} // namespace

void end_service()
{
    close_server();
}

enum os_status serve(struct service *service)
{
    enum os_status status = try_attributes(*service);
    if (status == OS_OK) {
        status = try_address(*service);
    }
    if (status != OS_OK) {
        return status;
    }
    const signals_elsewhere meanwhile;
    try {
        open_server(*service);
        return OS_OK;
    } catch (const CORBA::SystemException &exception) {
        return refuse(*service, words_of(exception));
    } catch (const std::bad_alloc &) {
        close_server();
        return OS_NO_MEMORY;
    } catch (const std::exception &exception) {
        return refuse(*service, exception.what());
    }
}

} // namespace tauto
