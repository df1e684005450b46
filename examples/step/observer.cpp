// A bank of first-order filters that grows with its number of channels: how many of them fit into a step?
//
//     tauto step --header > tautochrone_step.h
//     c++ -O2 -shared -fPIC -o observer.so observer.cpp
//     CHANNELS=20000 tauto step observer.so:observer --rate 1kHz
#include "tautochrone_step.h"

#include <cmath>
#include <cstdlib>
#include <vector>

TAUTOCHRONE_STEP(observer)

namespace {

class Observer {
public:
    explicit Observer(std::size_t channels) : states_(channels, 0.0) {}

    void step(double t_s) noexcept
    {
        for (std::size_t i = 0; i < states_.size(); ++i) {
            states_[i] += 0.01 * (std::sin(t_s + static_cast<double>(i)) - states_[i]);
        }
    }

private:
    std::vector<double> states_; // all memory is there before the first step
};

} // namespace

void *observer_init()
{
    const char *const said = std::getenv("CHANNELS");
    const long channels = said != nullptr ? std::strtol(said, nullptr, 10) : 1000;
    return channels > 0 ? new Observer(static_cast<std::size_t>(channels)) : nullptr;
}

int observer_step(void *context, uint64_t, int64_t t_ns)
{
    static_cast<Observer *>(context)->step(static_cast<double>(t_ns) / 1e9);
    return 0;
}

void observer_end(void *context)
{
    delete static_cast<Observer *>(context);
}
