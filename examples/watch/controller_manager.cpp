/*
 * The loop of a ROS 2 controller manager, without ROS: it reads the hardware, updates the controllers and writes, each
 * millisecond. The lines with TAUTO_ are those that go into `ros2_control_node.cpp`, or into the callback of a timer of
 * rclcpp; docs/watch.md says where.
 *
 *     tauto watch --header c > tautochrone_loop.h
 *     c++ -std=c++17 -O2 -I. -o controller_manager controller_manager.cpp
 *     tauto watch --rate 1kHz -- ./controller_manager
 */
#include "tautochrone_loop.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock; /* CLOCK_MONOTONIC, as the header's time stamps */

struct Joint {
    double position = 0.0, velocity = 0.0, effort = 0.0;
};

class ControllerManager {
public:
    static constexpr int update_rate_hz = 1000;

    void read()
    {
        for (Joint &joint : hardware_) {
            joint.velocity += joint.effort / update_rate_hz;
            joint.position += joint.velocity / update_rate_hz;
        }
        state_ = hardware_;
    }

    void update()
    {
        for (Joint &joint : state_) {
            joint.effort = 100.0 * (1.0 - joint.position) - 20.0 * joint.velocity;
        }
    }

    void write()
    {
        for (std::size_t i = 0; i < hardware_.size(); i++) {
            hardware_[i].effort = state_[i].effort;
        }
    }

    double position() const { return hardware_.front().position; }

private:
    std::array<Joint, 7> hardware_, state_;
};

int64_t nanoseconds(Clock::time_point instant)
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(instant.time_since_epoch()).count();
}

} // namespace

int main(int argc, char **argv)
{
    const uint64_t cycles = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : UINT64_MAX;
    ControllerManager manager;
    std::thread loop([&] {
        TAUTO_LOOP("controller_manager");
        const auto period = std::chrono::nanoseconds(1'000'000'000 / ControllerManager::update_rate_hz);
        auto next = Clock::now();
        for (uint64_t k = 0; k < cycles; k++) {
            next += period;
            std::this_thread::sleep_until(next);
            TAUTO_BEGIN_AT(k, nanoseconds(next));
            manager.read();
            manager.update();
            manager.write();
            TAUTO_END(k);
        }
    });
    loop.join();
    std::printf("position %.3f\n", manager.position());
    return 0;
}
