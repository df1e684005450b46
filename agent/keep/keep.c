#include "agent.h"

#include "lines.h"
#include "keep/requests.h"
#include "keep/words.h"
#include "format.h"
#include "message.h"
#include "options.h"
#include "os/dialogue.h"
#include "os/os.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NS_PER_MS = 1000000, LONGEST_REQUEST = 1 << 20 };
static const char usual_journal[] = "/run/tautochrone/deployment.journal";
/* As in guard.c: a keeper that had no CPU gives those who speak to it a moment more. */
static const int64_t starved_ns = 50LL * NS_PER_MS;
static const int64_t second_look_ns = 200LL * NS_PER_MS;

struct conversation {
    struct keeper keeper;
    struct lines lines;
    int64_t patience_ns; /* 0: silence is no sign */
    bool skips_line;     /* the rest of one that was too long */
    bool is_lost;        /* nobody takes the answers */
};

static void send(struct conversation *talk, const char *id, const struct answer *answer)
{
    struct text whole = {0};
    words_add_string(&whole, id);
    if (answer->fault == FAULT_NONE) {
        text_format(&whole, " ok %llu\n", (unsigned long long)answer->body.length);
    } else {
        text_format(&whole, " error %s %llu\n", os_fault_name(answer->fault), (unsigned long long)answer->body.length);
    }
    text_add(&whole, text_string(&answer->body), answer->body.length);
    text_add(&whole, "\n", 1);
    const int64_t until_ns = talk->patience_ns > 0 ? os_now_ns() + talk->patience_ns : INT64_MAX;
    talk->is_lost = whole.out_of_memory || os_dialogue_write(whole.data, whole.length, until_ns) != OS_OK;
    text_free(&whole);
}

static void serve_line(struct conversation *talk, char *line, size_t length, bool cut)
{
    struct answer answer = {0};
    const char *id = "-";
    if (talk->skips_line) {
        talk->skips_line = cut;
        return;
    }
    talk->skips_line = cut;
    if (cut) {
        answer.fault = FAULT_E2BIG;
        text_add_string(&answer.body, "the request is too long");
    } else if (length == 0) {
        return; /* a sign of life */
    } else {
        request_serve(&talk->keeper, line, length, &id, &answer);
    }
    send(talk, id, &answer);
    text_free(&answer.body);
}

static bool must_end(const struct conversation *talk)
{
    return talk->is_lost || os_stop_requested() != OS_STOP_NONE;
}

/* Serves everything that waits. True: somebody spoke. */
static bool serve_waiting(struct conversation *talk)
{
    bool heard = false;
    while (!must_end(talk) && lines_take(&talk->lines)) {
        size_t length = 0;
        bool cut = false;
        heard = true;
        for (char *line = lines_next(&talk->lines, &length, &cut); line != NULL && !must_end(talk);
             line = lines_next(&talk->lines, &length, &cut)) {
            serve_line(talk, line, length, cut);
        }
    }
    return heard;
}

/* True: it ended because nothing was heard. */
static bool converse(struct conversation *talk)
{
    const bool listens_for_silence = talk->patience_ns > 0;
    int64_t silent_at_ns = listens_for_silence ? os_now_ns() + talk->patience_ns : INT64_MAX;
    for (;;) {
        os_dialogue_wait(silent_at_ns);
        const bool was_starved = listens_for_silence && os_now_ns() - starved_ns > silent_at_ns;
        const bool heard = serve_waiting(talk);
        if (must_end(talk) || talk->lines.has_ended) {
            return false;
        }
        if (listens_for_silence && heard) {
            silent_at_ns = os_now_ns() + talk->patience_ns;
        } else if (was_starved) {
            silent_at_ns = os_now_ns() + second_look_ns;
        } else if (os_now_ns() >= silent_at_ns) {
            return true;
        }
    }
}

static int run(struct conversation *talk)
{
    if (os_stop_listen() != OS_OK || !lines_begin(&talk->lines, LONGEST_REQUEST)) {
        return refuse(EXIT_FAILED, "the settings guard can't be set up.");
    }
    os_threads_unpin(); /* its own CPU may be one that goes off line, or is held by others */
    const bool heard_nothing = converse(talk);
    request_end(&talk->keeper);
    if (heard_nothing) {
        (void)refuse(EXIT_FAILED, "it heard nothing for %" PRId64 " ms and put every setting back.\n"
                                  "The connection, or the machine at its other end, stalled. Try again.",
                     talk->patience_ns / NS_PER_MS);
    }
    lines_free(&talk->lines);
    return EXIT_MEASURED;
}

static void trim_slashes(char *root, size_t length)
{
    while (length > 0 && root[length - 1] == '/') {
        root[--length] = '\0';
    }
}

int keep_main(int argc, char **argv)
{
    const char *journal = getenv("TAUTO_JOURNAL");
    const char *root = "/";
    char trimmed[LONGEST_PATH];
    struct conversation talk = {0};
    struct option table[] = {
        {"journal", OPTION_TEXT, &journal, NULL, "the undo journal [TAUTO_JOURNAL, or below /run/tautochrone]", false},
        {"root", OPTION_TEXT, &root, NULL, "a copied tree instead of the system's own files [/]", false},
        {"patience", OPTION_DURATION, &talk.patience_ns, NULL, "longest silence of standard input [any]", false},
    };
    static const char usage[] =
        "usage: tauto-agent keep [options]\n\n"
        "Reads files and changes settings as the lines of standard input say (docs/agent.md), and puts back what it\n"
        "changed when they end.\n\n";
    int code = EXIT_USAGE;
    if (!options_read_or_help(table, sizeof table / sizeof table[0], argc, argv, usage, &code)) {
        return code;
    }
    journal = journal != NULL && journal[0] != '\0' ? journal : usual_journal;
    if (format_text(trimmed, sizeof trimmed, "%s", root) >= sizeof trimmed) {
        return refuse(EXIT_USAGE, "--root: the name is too long.");
    }
    trim_slashes(trimmed, strlen(trimmed));
    talk.keeper.root = trimmed;
    talk.keeper.is_copy = trimmed[0] != '\0';
    const enum os_fault fault = keeper_place(&talk.keeper, journal, talk.keeper.journal_path);
    if (fault != FAULT_NONE) {
        return refuse(EXIT_USAGE, "--journal %s: name it from the root, without '..'.", journal);
    }
    return run(&talk);
}
