/* A servant as CORBA sees it, and what leads to it. */
#ifndef TAUTO_OMNIORB_CUBER_H
#define TAUTO_OMNIORB_CUBER_H

#include "omniorb.h"

#include <atomic>

namespace tauto
{

/* An endpoint, and the servant behind it. */
struct station {
    struct servant *servant = nullptr;
    struct os_mutex *turn = nullptr;              /* of a thread that serves: another may drain an older connection */
    std::atomic<const void *> served_by{nullptr}; /* identity of the thread that did so last */
    std::string failure;                          /* guarded by `turn` */

    station() = default;
    station(const station &) = delete;
    station &operator=(const station &) = delete;
    ~station()
    {
        if (turn != nullptr) {
            os_mutex_destroy(turn);
        }
    }
};

class turn_of
{
  public:
    explicit turn_of(const station &station) : mutex(station.turn)
    {
        os_mutex_lock(mutex);
    }
    ~turn_of()
    {
        os_mutex_unlock(mutex);
    }
    turn_of(const turn_of &) = delete;
    turn_of &operator=(const turn_of &) = delete;

  private:
    struct os_mutex *const mutex;
};

/* One reference to it is the caller's. */
PortableServer::ServantBase *make_cuber(station &station);

} // namespace tauto

#endif
