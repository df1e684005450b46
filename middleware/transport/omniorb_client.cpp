/*
 * The client's side of omniORB (omniorb.cpp). Each connection has a rope of its own with one strand: so the ORB calls a
 * bundle of connections to one server, and a connection.
 */
#include "omniorb.h"
#include "omniorb_patience.h"

#include <cstring>
#include <mutex>
#include <new>

#include <omniORB4/internal/giopRope.h>
#include <omniORB4/minorCode.h>
#include <omniORB4/omniInterceptors.h>

#include "cubit.hh"

struct connection {
    Cubit::Cuber_var cuber;
    tauto::patience patience;
    struct value argument; /* its elements and its struct lie below, in types of CORBA's own */
    Cubit::Many many;
    Cubit::Longs longs;
    Cubit::Octets octets;
    struct value result;
    Cubit::Longs_var longs_back;
    Cubit::Octets_var octets_back;
};

namespace tauto
{

namespace
{

constexpr int64_t ns_per_ms = 1000000;

/* The calling thread is in `connect`. */
thread_local bool is_connecting = false;

/* The ORB's own rope for an address would be shared by all who go there; and in place of a connection that broke it
 * would make another, where the call is repeated. */
class own_rope final : public omni::giopRope
{
  public:
    own_rope(const omni::giopAddressList &addresses, omniIOR::IORInfo *info) : omni::giopRope(addresses, info)
    {
        maxStrands(1);
    }

    omni::IOP_C *acquireClient(const omniIOR *reference, const CORBA::Octet *key, CORBA::ULong bytes,
                               omniCallDescriptor *call) override
    {
        if (!is_connecting) {
            pd_addresses_order.clear(); /* there is nowhere else to go */
        }
        return omni::giopRope::acquireClient(reference, key, bytes, call);
    }

  private:
    CORBA::Boolean match(const omni::giopAddressList &, omniIOR::IORInfo *) const override
    {
        return false;
    }
};

CORBA::Boolean on_rope(omni::omniInterceptors::createRope_T::info_T &wanted)
{
    wanted.rope = new own_rope(wanted.addrlist, wanted.ior_info);
    return false;
}

/* What a call that raised this came to. A connection that breaks is COMM_FAILURE, or TRANSIENT where the ORB would make
 * another one. */
template <typename Action> enum os_status status_of(const Action &action)
{
    try {
        action();
        return OS_OK;
    } catch (const CORBA::TIMEOUT &) {
        return OS_TIMED_OUT;
    } catch (const CORBA::TRANSIENT &exception) {
        return exception.minor() == omni::TRANSIENT_ConnectFailed ? OS_REFUSED : OS_CLOSED;
    } catch (const CORBA::COMM_FAILURE &) {
        return OS_CLOSED;
    } catch (const CORBA::NO_MEMORY &) {
        return OS_NO_MEMORY;
    } catch (const std::bad_alloc &) {
        return OS_NO_MEMORY;
    } catch (...) {
        return OS_FAILED;
    }
}

/* A call that is timed. */
template <typename Action> enum os_status timed(struct connection &connection, const Action &action)
{
    connection.patience.call_begins();
    const enum os_status status = status_of(action);
    connection.patience.call_ends();
    return status == OS_CLOSED && connection.patience.is_over() ? OS_TIMED_OUT : status;
}

/* One ORB for all connections of the client, as long as there are any. */
std::mutex client_guard;
CORBA::ORB_ptr client_orb = nullptr;
uint32_t client_connections = 0;

void begin_client_orb()
{
    client_orb = begin_orb({"-ORBretainAddressOrder", "1"}); /* a rope that is cut stays so */
    omniORB::getInterceptors()->createRope.add(on_rope);
}

void end_client_orb()
{
    (void)status_of([] { client_orb->destroy(); });
    CORBA::release(client_orb);
    client_orb = nullptr;
}

enum os_status acquire_orb()
{
    const std::lock_guard<std::mutex> mine(client_guard);
    if (client_connections == 0) {
        enum os_status status = status_of(begin_client_orb);
        if (status == OS_OK) {
            status = patience_begin_looking();
            if (status != OS_OK) {
                end_client_orb();
            }
        }
        if (status != OS_OK) {
            return status;
        }
    }
    client_connections++;
    return OS_OK;
}

void release_orb()
{
    const std::lock_guard<std::mutex> mine(client_guard);
    client_connections--;
    if (client_connections == 0) {
        patience_end_looking();
        end_client_orb();
    }
}

/* The question whether there is such an object goes the way of every call, and is no call of our interface. It opens
 * the connection, within the ORB's own time limit, and lets the thread that serves it begin; asked again, it leaves the
 * connection as every call without a limit will find it. */
enum os_status reach(struct connection &connection, const struct connect_options &options)
{
    const CORBA::Object_var object = client_orb->string_to_object(options.endpoint);
    connection.cuber = Cubit::Cuber::_unchecked_narrow(object);
    if (CORBA::is_nil(connection.cuber)) {
        return OS_INVALID;
    }
    const int64_t limit_ms = long_patience_ns(options.patience_ns) / ns_per_ms;
    omniORB::setClientCallTimeout(connection.cuber, static_cast<CORBA::ULong>(limit_ms));
    is_connecting = true;
    bool is_missing = connection.cuber->_non_existent();
    is_connecting = false;
    omniORB::setClientCallTimeout(connection.cuber, 0);
    connection.patience.begin(connection.cuber, options.patience_ns);
    const enum os_status status = timed(connection, [&] { is_missing |= connection.cuber->_non_existent(); });
    return status == OS_OK && is_missing ? OS_REFUSED : status;
}

} // namespace

void disconnect(struct connection *connection)
{
    /* Now, and not when the ORB ends. */
    (void)status_of([connection] { connection->cuber->_PR_getobj()->_NP_disconnect(); });
    delete connection;
    release_orb();
}

enum os_status connect(struct connection **connection, const struct connect_options *options)
{
    enum os_status status = acquire_orb();
    if (status != OS_OK) {
        return status;
    }
    struct connection *made = nullptr;
    enum os_status reached = OS_FAILED;
    status = status_of([&] {
        made = new struct connection();
        reached = reach(*made, *options);
    });
    is_connecting = false; /* also after an exception */
    if (status == OS_OK && reached == OS_OK) {
        *connection = made;
        return OS_OK;
    }
    delete made;
    release_orb();
    return status == OS_OK ? reached : status;
}

template <typename Sequence> static void fill(Sequence &sequence, const struct value &argument)
{
    sequence.length(argument.length);
    if (argument.length > 0) {
        std::memcpy(sequence.get_buffer(), argument.elements,
                    static_cast<size_t>(value_bytes(argument.kind, argument.length)));
    }
}

enum os_status prepare(struct connection *connection, const struct value *argument)
{
    connection->argument = *argument;
    connection->argument.elements = nullptr;
    connection->longs_back = nullptr; /* the answers before are freed here, and not while the next call is timed */
    connection->octets_back = nullptr;
    return status_of([&] {
        switch (argument->kind) {
        case VALUE_STRUCT:
            connection->many = {argument->scalar.many.o, argument->scalar.many.l, argument->scalar.many.s};
            break;
        case VALUE_LONGS:
            fill(connection->longs, *argument);
            break;
        case VALUE_OCTETS:
            fill(connection->octets, *argument);
            break;
        default:
            break;
        }
    });
}

static void call_now(struct connection &connection)
{
    const struct value &argument = connection.argument;
    struct value &result = connection.result;
    Cubit::_objref_Cuber *const cuber = connection.cuber.in();
    switch (argument.kind) {
    case VALUE_VOID:
        cuber->nothing();
        break;
    case VALUE_OCTET:
        result.scalar.octet = cuber->cube_octet(argument.scalar.octet);
        break;
    case VALUE_SHORT:
        result.scalar.short_integer = cuber->cube_short(argument.scalar.short_integer);
        break;
    case VALUE_LONG:
        result.scalar.long_integer = cuber->cube_long(argument.scalar.long_integer);
        break;
    case VALUE_DOUBLE:
        result.scalar.real = cuber->cube_double(argument.scalar.real);
        break;
    case VALUE_STRUCT: {
        const Cubit::Many many = cuber->cube_struct(connection.many);
        result.scalar.many = {many.o, many.l, many.s};
        break;
    }
    case VALUE_LONGS:
        connection.longs_back = cuber->cube_longs(connection.longs);
        break;
    case VALUE_OCTETS:
        connection.octets_back = cuber->cube_octets(connection.octets);
        break;
    case VALUE_TIMED: {
        CORBA::LongLong arrived_ns = 0;
        result.scalar.octet = cuber->cube_octet_timed(argument.scalar.octet, arrived_ns);
        result.arrived_ns = arrived_ns;
        break;
    }
    case VALUE_KINDS:
        break;
    }
}

enum os_status call(struct connection *connection)
{
    return timed(*connection, [connection] { call_now(*connection); });
}

static void send_now(const struct connection &connection)
{
    const struct value &argument = connection.argument;
    Cubit::_objref_Cuber *const cuber = connection.cuber.in();
    switch (argument.kind) {
    case VALUE_VOID:
        cuber->nothing_oneway();
        break;
    case VALUE_OCTET:
        cuber->cube_octet_oneway(argument.scalar.octet);
        break;
    case VALUE_SHORT:
        cuber->cube_short_oneway(argument.scalar.short_integer);
        break;
    case VALUE_LONG:
        cuber->cube_long_oneway(argument.scalar.long_integer);
        break;
    case VALUE_DOUBLE:
        cuber->cube_double_oneway(argument.scalar.real);
        break;
    case VALUE_STRUCT:
        cuber->cube_struct_oneway(connection.many);
        break;
    case VALUE_LONGS:
        cuber->cube_longs_oneway(connection.longs);
        break;
    case VALUE_OCTETS:
        cuber->cube_octets_oneway(connection.octets);
        break;
    case VALUE_TIMED: /* has an answer, or no sense */
    case VALUE_KINDS:
        throw CORBA::BAD_OPERATION();
    }
}

enum os_status send(struct connection *connection)
{
    return timed(*connection, [connection] { send_now(*connection); });
}

void answer(struct connection *connection, struct value *answer)
{
    *answer = connection->result;
    answer->kind = connection->argument.kind;
    if (answer->kind == VALUE_LONGS) {
        answer->length = connection->longs_back->length();
        answer->elements = connection->longs_back->get_buffer();
    } else if (answer->kind == VALUE_OCTETS) {
        answer->length = connection->octets_back->length();
        answer->elements = connection->octets_back->get_buffer();
    }
}

} // namespace tauto
