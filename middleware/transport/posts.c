#include "transport/posts.h"

#include "format.h"

#include <stdlib.h>

static const struct post_kind *kind_of_all;
static uint8_t *posts;
static uint32_t begun;

enum os_status posts_serve(const struct post_kind *kind, struct service *service)
{
    kind_of_all = kind;
    begun = 0;
    posts = calloc(service->count, kind->bytes);
    if (posts == NULL) {
        return OS_NO_MEMORY;
    }
    enum os_status status = OS_OK;
    while (begun < service->count && status == OS_OK) {
        const uint32_t number = begun++;
        const char *what = "have memory";
        status = kind->begin(posts + number * kind->bytes, service, number, &what);
        if (status != OS_OK) {
            format_text(service->refusal, sizeof service->refusal, "servant %u can't %s: %s%s", (unsigned)number, what,
                        os_status_text(status), status == OS_NO_MEMORY ? " (open files, perhaps: ulimit -n)" : "");
        }
    }
    if (status != OS_OK) {
        posts_end_service();
    }
    return status;
}

void posts_end_service(void)
{
    for (uint32_t i = 0; i < begun; i++) {
        kind_of_all->end(posts + i * kind_of_all->bytes);
    }
    free(posts);
    posts = NULL;
    begun = 0;
}
