#include "keep/journal.h"

#include "keep/words.h"
#include "format.h"
#include "os/settings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BOOT_BYTES = 64, DATE_BYTES = 32, HEADER_WORDS = 7 };
enum { WORD_KIND, WORD_VERSION, WORD_NAME, WORD_SINCE, WORD_BOOT, WORD_KEEPER, WORD_KEEPER_START };
static const char kind[] = "tautochrone-journal";
static const char version[] = "1";
static const char left_step[] = "left";

/* Days since 1970 to a date: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days. */
static void format_date(char *text, size_t bytes, int64_t wall_ns)
{
    const int64_t seconds = wall_ns / 1000000000;
    const int64_t of_day = seconds % 86400;
    const int64_t days = seconds / 86400 + 719468; /* since 1 March of the year 0 */
    const int64_t era = days / 146097;
    const int64_t day_of_era = days % 146097;
    const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t shifted_month = (5 * day_of_year + 2) / 153;
    const int64_t day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    const int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
    const int64_t year = era * 400 + year_of_era + (month <= 2 ? 1 : 0);
    const size_t date = format_text(text, bytes, "%04" PRId64 "-%02" PRId64 "-%02" PRId64, year, month, day);
    format_text(text + date, bytes - date, "T%02" PRId64 ":%02" PRId64 ":%02" PRId64 "Z", of_day / 3600,
                of_day / 60 % 60, of_day % 60);
}

void journal_header(struct text *line, const char *name)
{
    char boot[BOOT_BYTES];
    char date[DATE_BYTES];
    uint64_t start = 0;
    os_boot_identity(boot, sizeof boot);
    format_date(date, sizeof date, os_wall_clock_ns());
    (void)os_task_start(os_own_process(), &start, NULL); /* without /proc there is nothing to keep either */
    words_add_string(line, kind);
    words_add_string(line, version);
    words_add_string(line, name);
    words_add_string(line, date);
    words_add_string(line, boot);
    words_add_number(line, (unsigned long long)os_own_process());
    words_add_number(line, start);
    text_add(line, "\n", 1);
}

/* A last line without its end was being written when its keeper was killed: its change was not made. */
static bool split_lines(struct journal *journal)
{
    size_t lines = 0;
    for (size_t i = 0; i < journal->text.length; i++) {
        lines += journal->text.data[i] == '\n' ? 1 : 0;
    }
    journal->steps = calloc(lines + 1, sizeof *journal->steps);
    if (journal->steps == NULL) {
        return false;
    }
    char *at = journal->text.data;
    for (size_t i = 0; i < lines; i++) {
        char *const end = strchr(at, '\n');
        if (end == NULL) {
            break; /* there are NULs in it: not ours */
        }
        *end = '\0';
        if (i == 0) {
            journal->header = at;
        } else {
            journal->steps[journal->step_count++] = at;
        }
        at = end + 1;
    }
    return true;
}

static bool keeper_lives(int64_t keeper, uint64_t start)
{
    uint64_t found = 0;
    return os_task_start(keeper, &found, NULL) && found == start;
}

/* `line` is a copy, which is taken apart. */
static void read_header(struct journal *journal, char *line, size_t length)
{
    char boot[BOOT_BYTES];
    struct words words;
    os_boot_identity(boot, sizeof boot);
    if (!words_split(line, length, &words) || words.count != HEADER_WORDS ||
        strcmp(words.word[WORD_KIND].bytes, kind) != 0 || strcmp(words.word[WORD_VERSION].bytes, version) != 0) {
        return;
    }
    journal->name = strdup(words.word[WORD_NAME].bytes);
    journal->since = strdup(words.word[WORD_SINCE].bytes);
    journal->keeper = strtoll(words.word[WORD_KEEPER].bytes, NULL, 10);
    const uint64_t start = strtoull(words.word[WORD_KEEPER_START].bytes, NULL, 10);
    const bool is_left =
        journal->step_count > 0 && strcmp(journal->steps[journal->step_count - 1], left_step) == 0;
    if (strcmp(words.word[WORD_BOOT].bytes, boot) != 0) {
        journal->standing = JOURNAL_VOID;
    } else if (is_left) {
        journal->standing = JOURNAL_LEFT;
    } else {
        journal->standing = keeper_lives(journal->keeper, start) ? JOURNAL_ALIVE : JOURNAL_ORPHAN;
    }
}

/* Its text has been read, or could not be. */
static enum os_fault take_apart(struct journal *journal, enum os_fault fault)
{
    if (fault != FAULT_NONE || journal->text.length == 0) {
        return fault;
    }
    if (!split_lines(journal)) {
        return FAULT_ENOMEM;
    }
    if (journal->header != NULL) {
        char *const line = strdup(journal->header);
        if (line == NULL) {
            return FAULT_ENOMEM;
        }
        read_header(journal, line, strlen(line));
        free(line);
    }
    return FAULT_NONE;
}

enum os_fault journal_read(struct journal *journal, const char *path)
{
    *journal = (struct journal){.standing = JOURNAL_VOID};
    return take_apart(journal, os_file_read(path, &journal->text));
}

enum os_fault journal_read_open(struct journal *journal, intptr_t file)
{
    *journal = (struct journal){.standing = JOURNAL_VOID};
    return take_apart(journal, os_file_read_open(file, &journal->text));
}

void journal_free(struct journal *journal)
{
    free(journal->name);
    free(journal->since);
    free(journal->steps);
    text_free(&journal->text);
}
