// The ABI's queue over HTTP; a back end adds `submit`, which starts an exchange whose owner is the request.
#pragma once

#include <memory>

#include "http/http.hpp"
#include "infermeter_backend.h"
#include "sdk/abi_edge.hpp"

struct imb_queue {
  std::shared_ptr<infermeter::HttpQueue> http = std::make_shared<infermeter::HttpQueue>();
};

namespace infermeter {

inline imb_status create_queue(imb_session* /*session*/, imb_queue** queue, imb_message message) {
  *queue = nullptr;
  return guarded(message, IMB_RUN_ERROR, [&] { *queue = std::make_unique<imb_queue>().release(); });
}

inline void destroy_queue(imb_queue* queue) { delete queue; }

inline imb_status next_ended(imb_queue* queue, std::int64_t timeout_ns, imb_request** request, std::int64_t* ended_ns,
                             imb_message message) {
  *request = nullptr;
  return guarded(message, IMB_RUN_ERROR, [&] {
    const QueueMember* const ended = queue->http->next(timeout_ns);
    if (ended == nullptr) return;
    *request = static_cast<imb_request*>(ended->owner);
    *ended_ns = ended->ended_ns();
  });
}

}  // namespace infermeter
