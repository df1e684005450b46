/*
 * A post is what one servant has of its own to serve with: socket, thread, buffer. Where posts are begun one after the
 * other and know nothing of each other, a service is all of them. A program has one.
 */
#ifndef TAUTO_POSTS_H
#define TAUTO_POSTS_H

#include "transport.h"

struct post_kind {
    size_t bytes; /* of one, which are 0 when it begins */
    /* Of servant `number`: requests may come. On failure `what` is what it can't do ("have its thread"). */
    enum os_status (*begin)(void *post, struct service *service, uint32_t number, const char **what);
    /* Also of one that failed to begin. */
    void (*end)(void *post);
};

/* As `serve` and `end_service` of struct transport. */
enum os_status posts_serve(const struct post_kind *kind, struct service *service);
void posts_end_service(void);

#endif
