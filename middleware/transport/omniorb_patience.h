/*
 * How long a client waits for an answer.
 *
 * omniORB has time limits of its own, and they aren't used: with one, it asks the system before each send and before
 * each receive whether it would wait, which makes a call on one machine about a tenth slower than what the ORB does by
 * itself; and it reckons them on the wall clock. So a thread beside looks from time to time whether a call has been
 * under way for too long, and shuts its connection down; the call ends with that.
 */
#ifndef TAUTO_OMNIORB_PATIENCE_H
#define TAUTO_OMNIORB_PATIENCE_H

#include "omniorb.h"

#include <atomic>

namespace tauto
{

/* The thread beside: from before the first connection begins until after the last one has ended. */
enum os_status patience_begin_looking();
void patience_end_looking();

/* Of one connection, which one thread uses. */
class patience
{
  public:
    patience() = default;
    patience(const patience &) = delete;
    patience &operator=(const patience &) = delete;
    ~patience();

    /* From now on the calls on `object` are looked after. */
    void begin(CORBA::Object_ptr object, int64_t limit_ns);

    /* TIMED. Around each call. */
    void call_begins()
    {
        turns.store(turns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    void call_ends()
    {
        turns.store(turns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    /* A call took longer than the limit, and its connection was shut down. */
    bool is_over() const
    {
        return over.load(std::memory_order_acquire);
    }

    /* By the thread beside: shuts the connection down when it is time. */
    void look(int64_t now_ns);

  private:
    std::atomic<uint32_t> turns{0}; /* odd: a call is under way */
    std::atomic<bool> over{false};
    CORBA::Object_var served;
    int64_t longest_ns = 0;
    /* Of the thread beside alone: what it saw, and since when. */
    uint32_t seen = 0;
    int64_t seen_since_ns = 0;
};

} // namespace tauto

#endif
