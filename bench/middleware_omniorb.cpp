/*
 * The least program that calls an object of cubit.idl through omniORB: no interceptor, no threads of other priorities,
 * nothing kept but the time of each call.
 *
 * usage: middleware_omniorb serve ENDPOINT | call REFERENCE LENGTH COUNT
 *
 * serve prints the object's reference; call prints the median in ns, of cube_octets of that length; 0: of cube_octet.
 */
#include "cubit.hh"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

class Cuber : public POA_Cubit::Cuber {
  public:
    void nothing() override {}
    CORBA::Octet cube_octet(CORBA::Octet x) override { return static_cast<CORBA::Octet>(x * x * x); }
    CORBA::Short cube_short(CORBA::Short x) override { return static_cast<CORBA::Short>(x * x * x); }
    CORBA::Long cube_long(CORBA::Long x) override { return x * x * x; }
    CORBA::Double cube_double(CORBA::Double x) override { return x * x * x; }
    Cubit::Many cube_struct(const Cubit::Many &x) override { return x; }
    Cubit::Longs *cube_longs(const Cubit::Longs &x) override { return new Cubit::Longs(x); }
    Cubit::Octets *cube_octets(const Cubit::Octets &x) override
    {
        auto *const cubed = new Cubit::Octets(x);
        CORBA::Octet *const octets = cubed->get_buffer();
        for (CORBA::ULong i = 0, length = cubed->length(); i < length; i++) {
            octets[i] = static_cast<CORBA::Octet>(octets[i] * octets[i] * octets[i]);
        }
        return cubed;
    }
    CORBA::Octet cube_octet_timed(CORBA::Octet x, CORBA::LongLong &) override { return cube_octet(x); }
    void nothing_oneway() override {}
    void cube_octet_oneway(CORBA::Octet) override {}
    void cube_short_oneway(CORBA::Short) override {}
    void cube_long_oneway(CORBA::Long) override {}
    void cube_double_oneway(CORBA::Double) override {}
    void cube_struct_oneway(const Cubit::Many &) override {}
    void cube_longs_oneway(const Cubit::Longs &) override {}
    void cube_octets_oneway(const Cubit::Octets &) override {}
};

static int serve(CORBA::ORB_ptr orb)
{
    CORBA::Object_var found = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(found);
    Cuber cuber;
    PortableServer::ObjectId_var identity = poa->activate_object(&cuber);
    Cubit::Cuber_var reference = cuber._this();
    CORBA::String_var text = orb->object_to_string(reference);
    std::puts(text);
    std::fflush(stdout);
    poa->the_POAManager()->activate();
    orb->run(); /* until it is killed */
    return 1;
}

static int call(Cubit::Cuber_ptr cuber, CORBA::ULong length, int count)
{
    constexpr int warmup = 100;
    std::vector<long long> taken_ns;
    taken_ns.reserve(static_cast<size_t>(count));
    Cubit::Octets octets;
    octets.length(length);
    for (CORBA::ULong i = 0; i < length; i++) {
        octets[i] = static_cast<CORBA::Octet>(i);
    }
    for (int i = -warmup; i < count; i++) {
        const auto before = std::chrono::steady_clock::now();
        if (length == 0) {
            cuber->cube_octet(3);
        } else {
            Cubit::Octets_var cubed = cuber->cube_octets(octets);
        }
        const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - before;
        if (i >= 0) {
            taken_ns.push_back(taken.count());
        }
    }
    std::sort(taken_ns.begin(), taken_ns.end());
    std::printf("%lld\n", taken_ns[taken_ns.size() / 2]);
    return 0;
}

int main(int argc, char **argv)
{
    const std::string what = argc > 2 ? argv[1] : "";
    std::string endpoint = what == "serve" ? argv[2] : "";
    std::string option = "-ORBendPoint";
    std::vector<char *> words = {argv[0]};
    if (what == "serve") {
        words.insert(words.end(), {option.data(), endpoint.data()});
    }
    int word_count = static_cast<int>(words.size());
    CORBA::ORB_var orb = CORBA::ORB_init(word_count, words.data());
    if (what == "serve") {
        return serve(orb);
    }
    if (what != "call" || argc != 5) {
        return 2;
    }
    CORBA::Object_var object = orb->string_to_object(argv[2]);
    Cubit::Cuber_var cuber = Cubit::Cuber::_narrow(object);
    const int code = call(cuber, static_cast<CORBA::ULong>(std::atol(argv[3])), std::atoi(argv[4]));
    orb->destroy();
    return code;
}
