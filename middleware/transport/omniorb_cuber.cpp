#include "omniorb_cuber.h"

#include "cubit.hh"

namespace tauto
{

namespace
{

/* The servant as CORBA sees it. */
class cuber final : public POA_Cubit::Cuber
{
  public:
    /* Inlined and with sanitizers, gcc takes the virtual base that omniidl gives it for lying outside of it. */
    [[gnu::noinline]] explicit cuber(station &station) : here(station)
    {
    }

    void nothing() override
    {
        struct value value = of_kind(VALUE_VOID);
        handle(value, false);
    }
    CORBA::Octet cube_octet(CORBA::Octet octet) override
    {
        return cubed_octet(octet, false);
    }
    CORBA::Short cube_short(CORBA::Short integer) override
    {
        return cubed_short(integer, false);
    }
    CORBA::Long cube_long(CORBA::Long integer) override
    {
        return cubed_long(integer, false);
    }
    CORBA::Double cube_double(CORBA::Double real) override
    {
        return cubed_double(real, false);
    }
    Cubit::Many cube_struct(const Cubit::Many &many) override
    {
        return cubed_struct(many, false);
    }
    Cubit::Longs *cube_longs(const Cubit::Longs &longs) override
    {
        return cubed_sequence<Cubit::Longs>(VALUE_LONGS, longs);
    }
    Cubit::Octets *cube_octets(const Cubit::Octets &octets) override
    {
        return cubed_sequence<Cubit::Octets>(VALUE_OCTETS, octets);
    }
    CORBA::Octet cube_octet_timed(CORBA::Octet octet, CORBA::LongLong &arrived_ns) override
    {
        struct value value = of_kind(VALUE_TIMED);
        value.scalar.octet = octet;
        handle(value, false);
        arrived_ns = value.arrived_ns;
        return value.scalar.octet;
    }

    void nothing_oneway() override
    {
        struct value value = of_kind(VALUE_VOID);
        handle(value, true);
    }
    void cube_octet_oneway(CORBA::Octet octet) override
    {
        cubed_octet(octet, true);
    }
    void cube_short_oneway(CORBA::Short integer) override
    {
        cubed_short(integer, true);
    }
    void cube_long_oneway(CORBA::Long integer) override
    {
        cubed_long(integer, true);
    }
    void cube_double_oneway(CORBA::Double real) override
    {
        cubed_double(real, true);
    }
    void cube_struct_oneway(const Cubit::Many &many) override
    {
        cubed_struct(many, true);
    }
    void cube_longs_oneway(const Cubit::Longs &longs) override
    {
        cube_in_place(VALUE_LONGS, longs);
    }
    void cube_octets_oneway(const Cubit::Octets &octets) override
    {
        cube_in_place(VALUE_OCTETS, octets);
    }

  private:
    station &here;

    static struct value of_kind(enum value_kind kind)
    {
        struct value value = {};
        value.kind = kind;
        return value;
    }

    void handle(struct value &value, bool one_way)
    {
        const turn_of mine(here);
        servant_handle(here.servant, &value, one_way);
        servant_rest_when_due(here.servant);
    }

    CORBA::Octet cubed_octet(CORBA::Octet octet, bool one_way)
    {
        struct value value = of_kind(VALUE_OCTET);
        value.scalar.octet = octet;
        handle(value, one_way);
        return value.scalar.octet;
    }

    CORBA::Short cubed_short(CORBA::Short integer, bool one_way)
    {
        struct value value = of_kind(VALUE_SHORT);
        value.scalar.short_integer = integer;
        handle(value, one_way);
        return value.scalar.short_integer;
    }

    CORBA::Long cubed_long(CORBA::Long integer, bool one_way)
    {
        struct value value = of_kind(VALUE_LONG);
        value.scalar.long_integer = integer;
        handle(value, one_way);
        return value.scalar.long_integer;
    }

    CORBA::Double cubed_double(CORBA::Double real, bool one_way)
    {
        struct value value = of_kind(VALUE_DOUBLE);
        value.scalar.real = real;
        handle(value, one_way);
        return value.scalar.real;
    }

    Cubit::Many cubed_struct(const Cubit::Many &many, bool one_way)
    {
        struct value value = of_kind(VALUE_STRUCT);
        value.scalar.many = {many.o, many.l, many.s};
        handle(value, one_way);
        return {value.scalar.many.o, value.scalar.many.l, value.scalar.many.s};
    }

    void handle_elements(enum value_kind kind, void *elements, CORBA::ULong length, bool one_way)
    {
        struct value value = of_kind(kind);
        value.length = length;
        value.elements = elements;
        handle(value, one_way);
    }

    /* The skeleton made the argument for this one call, and does nothing with it afterwards but free it. So its
     * elements are cubed where they are, and go into the answer as they are. */
    template <typename Sequence> Sequence *cubed_sequence(enum value_kind kind, const Sequence &argument)
    {
        Sequence &own = const_cast<Sequence &>(argument);
        const CORBA::ULong length = own.length();
        const CORBA::ULong maximum = own.maximum();
        auto *const elements = own.get_buffer(true);
        handle_elements(kind, elements, length, false);
        return new Sequence(maximum, length, elements, true);
    }

    template <typename Sequence> void cube_in_place(enum value_kind kind, const Sequence &argument)
    {
        Sequence &own = const_cast<Sequence &>(argument);
        handle_elements(kind, own.get_buffer(), own.length(), true);
    }
};

} // namespace

PortableServer::ServantBase *make_cuber(station &station)
{
    return new cuber(station);
}

} // namespace tauto
