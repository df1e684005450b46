/*
 * The first program of a guest of the virtual lab: it sets the guest up, then starts what the lab asks for and carries
 * bytes to and fro. docs/guest.md
 */
#include "guest/guest.h"

#include "guest/box.h"
#include "guest/prepare.h"
#include "guest/serve.h"
#include "message.h"
#include "os/boot.h"
#include "os/children.h"

#include <stdlib.h>
#include <string.h>

static bool open_and_serve(struct box *box, struct text *told, const char *file, intptr_t gate)
{
    struct text problem = {0};
    const enum os_status status = file == NULL ? os_mailbox_open(&box->mailbox, BOX_BYTES, &problem)
                                               : os_mailbox_open_file(&box->mailbox, BOX_BYTES, file, gate, &problem);
    if (status != OS_OK) {
        const bool has_words = problem.length > 0;
        (void)fault("%s.", has_words ? problem.data : os_status_text(status));
        text_free(&problem);
        return false;
    }
    describe_system(told);
    box_add(box, BOX_BOOT, 0, text_string(told), told->length);
    text_free(told);
    return serve(box);
}

_Noreturn void guest_be_first(void)
{
    struct box box = {0};
    struct text told = {0};
    prepare_system(&told);
    if (os_children_begin() == OS_OK) {
        stay_out_of_the_way();
        (void)open_and_serve(&box, &told, NULL, -1);
    } else {
        (void)fault("programs can't be watched.");
    }
    os_power_off();
}

static int be_tried(const char *file, const char *gate)
{
    static struct box box;
    struct text told = {0};
    return os_children_begin() == OS_OK && open_and_serve(&box, &told, file, strtol(gate, NULL, 10)) ? EXIT_MEASURED
                                                                                                    : EXIT_FAILED;
}

/* A kernel calls it by its path in the first file system; whatever else is the first in a container has another name. */
bool guest_is_first(const char *called)
{
    return os_is_first_program() && called != NULL && strcmp(called, "/init") == 0;
}

int guest_main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[0], "--box") == 0 && strcmp(argv[2], "--gate") == 0) {
        return be_tried(argv[1], argv[3]);
    }
    return refuse(EXIT_USAGE, "a guest of the virtual lab has work for this command as its first program (/init); on "
                              "this machine it has none.");
}
