/* The keeper's parts: words, lines of the journal, chosen words in brackets, lists of tasks. */
#include "keep/changes.h"
#include "keep/journal.h"
#include "keep/keeper.h"
#include "keep/requests.h"
#include "keep/task_list.h"
#include "keep/words.h"
#include "format.h"
#include "os/fault.h"
#include "os/journal.h"
#include "os/settings.h"
#include "test/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void split(struct words *words, char *line, bool is_valid)
{
    assert_int_equal(words_split(line, strlen(line), words), is_valid);
}

static void words_come_back_as_they_were_whatever_is_in_them(void **state)
{
    (void)state;
    char every[256];
    for (int i = 0; i < 256; i++) {
        every[i] = (char)i;
    }
    struct text line = {0};
    words_add(&line, every, sizeof every);
    words_add_string(&line, "");
    words_add_string(&line, "/plain-path_0,1:+=@.");
    words_add_number(&line, UINT64_MAX);
    assert_null(strpbrk(line.data, "\n\t\"~"));
    struct words words;
    split(&words, line.data, true);
    assert_int_equal(words.count, 4);
    assert_int_equal(words.word[0].length, sizeof every);
    assert_memory_equal(words.word[0].bytes, every, sizeof every);
    assert_false(word_is_string(&words.word[0]));
    assert_int_equal(words.word[1].length, 0);
    assert_string_equal(words.word[2].bytes, "/plain-path_0,1:+=@.");
    assert_string_equal(words.word[3].bytes, "18446744073709551615");
    text_free(&line);
}

static void what_is_no_line_of_words_is_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {"", " ", "a ", " a", "a  b", "%1", "%x0", "a%", "a%4", "1 2 3 4 5 6 7 8 9"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char line[32];
        struct words words;
        format_text(line, sizeof line, "%s", lines[i]);
        split(&words, line, false);
    }
}

static void simplified(const char *before, const char *after)
{
    struct text content = {0};
    text_add_string(&content, before);
    change_simplify(&content);
    assert_string_equal(text_string(&content), after);
    assert_int_equal(content.length, strlen(after));
    text_free(&content);
}

static void of_a_choice_the_word_in_brackets_is_meant_and_other_brackets_stay(void **state)
{
    (void)state;
    simplified("always [madvise] never\n", "madvise\n");
    simplified("[none] mq-deadline", "none");
    simplified("none [x]\n", "x\n");
    simplified("0-3\n", "0-3\n");
    simplified("", "");
    simplified("[only]\n", "[only]\n");
    simplified("[a] [b]\n", "[a] [b]\n");
    simplified("two [a]\nlines\n", "two [a]\nlines\n");
    simplified("x[a] b\n", "x[a] b\n");
    simplified("b [a]x\n", "b [a]x\n");
    simplified("b [a c]\n", "b [a c]\n");
    simplified("b []\n", "b []\n");
    simplified("b [a\n", "b [a\n");
}

static void a_list_of_tasks_comes_back_and_a_broken_one_does_not(void **state)
{
    (void)state;
    struct task_list list;
    assert_true(task_list_parse(&list, "12:345,6:7"));
    assert_int_equal(list.count, 2);
    assert_int_equal(list.task[1].number, 6);
    assert_int_equal(list.task[1].start, 7);
    struct text text = {0};
    task_list_format(&list, &text);
    assert_string_equal(text_string(&text), "12:345,6:7");
    text_free(&text);
    task_list_free(&list);
    assert_true(task_list_parse(&list, ""));
    assert_int_equal(list.count, 0);
    task_list_free(&list);
    static const char *const broken[] = {"x", "1", "1:", "1:2;", "1:2,x:3"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        assert_false(task_list_parse(&list, broken[i]));
        task_list_free(&list);
    }
}

struct place {
    char folder[64];
    char journal[96];
};

static void make_place(struct place *place)
{
    format_text(place->folder, sizeof place->folder, "/tmp/tauto-test-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    format_text(place->journal, sizeof place->journal, "%s/below/journal", place->folder);
}

static void remove_place(const struct place *place)
{
    char below[96];
    (void)os_file_remove(place->journal);
    format_text(below, sizeof below, "%s/below", place->folder);
    assert_int_equal(os_folder_remove(below), FAULT_NONE);
    assert_int_equal(os_folder_remove(place->folder), FAULT_NONE);
}

static void a_journal_is_whole_locked_and_read_back(void **state)
{
    (void)state;
    struct place place;
    struct text header = {0};
    struct journal found;
    intptr_t journal = 0;
    intptr_t other = 0;
    make_place(&place);
    assert_int_equal(journal_read(&found, place.journal), FAULT_ENOENT);
    journal_header(&header, "a name");
    assert_int_equal(os_journal_create(place.journal, header.data, header.length, &journal), FAULT_NONE);
    assert_int_equal(os_journal_create(place.journal, header.data, header.length, &other), FAULT_EEXIST);
    assert_int_equal(os_journal_open(place.journal, &other), FAULT_EBUSY);
    assert_int_equal(os_journal_append(journal, "one\ntwo\nhal", 11), FAULT_NONE);
    assert_int_equal(journal_read(&found, place.journal), FAULT_NONE);
    assert_string_equal(found.name, "a name");
    assert_int_equal(found.standing, JOURNAL_ALIVE);
    assert_int_equal(found.keeper, os_own_process());
    assert_int_equal(found.step_count, 2);
    assert_string_equal(found.steps[1], "two");
    journal_free(&found);
    os_journal_close(journal);
    assert_int_equal(os_journal_replace(place.journal, header.data, header.length), FAULT_NONE);
    assert_int_equal(os_journal_open(place.journal, &other), FAULT_NONE);
    assert_int_equal(os_journal_append(other, "left\n", 5), FAULT_NONE);
    os_journal_close(other);
    assert_int_equal(journal_read(&found, place.journal), FAULT_NONE);
    assert_int_equal(found.standing, JOURNAL_LEFT);
    journal_free(&found);
    text_free(&header);
    remove_place(&place);
}

static void ask(struct keeper *keeper, const char *request, enum os_fault fault, const char *body)
{
    char line[256];
    const char *id = NULL;
    struct answer answer = {0};
    const size_t length = format_text(line, sizeof line, "%s", request);
    request_serve(keeper, line, length, &id, &answer);
    assert_string_equal(id, "1");
    assert_int_equal(answer.fault, fault);
    if (body != NULL) {
        assert_string_equal(text_string(&answer.body), body);
    }
    text_free(&answer.body);
}

static void requests_change_and_put_back(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    struct keeper keeper = {.root = place.folder, .is_copy = true};
    format_text(keeper.journal_path, sizeof keeper.journal_path, "%s", place.journal);
    ask(&keeper, "1 state", FAULT_NONE, "null");
    ask(&keeper, "1 write /file 1", FAULT_EINVAL, "nothing has begun: 'begin NAME' first");
    ask(&keeper, "1 begin test", FAULT_NONE, "");
    ask(&keeper, "1 begin test", FAULT_EBUSY, NULL);
    ask(&keeper, "1 write /file 1", FAULT_NONE, "");
    ask(&keeper, "1 write /file 2", FAULT_NONE, "");
    ask(&keeper, "1 read /file", FAULT_NONE, "2\n");
    ask(&keeper, "1 mkdir /group", FAULT_NONE, "");
    ask(&keeper, "1 write /group/tasks 1%0A2%0A", FAULT_NONE, "");
    ask(&keeper, "1 move /group/tasks /tasks", FAULT_NONE, "");
    ask(&keeper, "1 read /tasks", FAULT_NONE, "1\n2\n");
    ask(&keeper, "1 hold /file %00", FAULT_NONE, "");
    ask(&keeper, "1 leave", FAULT_EBUSY, NULL);
    ask(&keeper, "1 affinities", FAULT_NONE, "");
    ask(&keeper, "1 kind /group", FAULT_NONE, "folder");
    ask(&keeper, "1 undo", FAULT_NONE, "");
    ask(&keeper, "1 names /", FAULT_NONE, "below/\n");
    ask(&keeper, "1 begin test", FAULT_NONE, "");
    ask(&keeper, "1 write /file 1", FAULT_NONE, "");
    ask(&keeper, "1 leave", FAULT_NONE, "");
    ask(&keeper, "1 begin test", FAULT_EEXIST, NULL);
    ask(&keeper, "1 restore", FAULT_NONE, "");
    ask(&keeper, "1 names /", FAULT_NONE, "below/\n");
    ask(&keeper, "1 begin test", FAULT_NONE, "");
    request_end(&keeper);
    ask(&keeper, "1 state", FAULT_NONE, "null");
    remove_place(&place);
}

static void note_one(void *argument, const struct os_thread_identity *identity, const char *cpus)
{
    struct os_thread_identity *const own = argument;
    if (identity->thread == os_own_process()) {
        *own = *identity;
        assert_true(strlen(cpus) > 0);
    }
}

static void every_thread_is_visited_and_known_by_its_start(void **state)
{
    (void)state;
    struct os_thread_identity own = {0};
    char cpus[OS_CPU_LIST_BYTES];
    assert_int_equal(os_threads_visit(note_one, &own), FAULT_NONE);
    assert_int_equal(own.process, os_own_process());
    assert_int_equal(os_thread_cpus_read(&own, cpus, sizeof cpus), FAULT_NONE);
    assert_int_equal(os_thread_cpus_write(&own, cpus), FAULT_NONE);
    assert_int_equal(os_thread_cpus_write(&own, "0-"), FAULT_EINVAL);
    assert_int_equal(os_thread_cpus_write(&own, "9999"), FAULT_EINVAL);
    own.start++;
    assert_int_equal(os_thread_cpus_read(&own, cpus, sizeof cpus), FAULT_ESRCH);
    assert_int_equal(os_thread_cpus_write(&own, cpus), FAULT_ESRCH);
}

static void the_longest_list_of_cpus_has_room(void **state)
{
    (void)state;
    struct text list = {0};
    for (int cpu = 0; cpu < 4096; cpu += 2) {
        char number[16];
        format_text(number, sizeof number, cpu > 0 ? ",%d" : "%d", cpu);
        text_add_string(&list, number);
    }
    assert_true(os_cpus_are_within(text_string(&list), "0-4095"));
    assert_true(list.length < OS_CPU_LIST_BYTES);
    text_free(&list);
}

TESTS(cmocka_unit_test(words_come_back_as_they_were_whatever_is_in_them),
      cmocka_unit_test(what_is_no_line_of_words_is_refused),
      cmocka_unit_test(of_a_choice_the_word_in_brackets_is_meant_and_other_brackets_stay),
      cmocka_unit_test(a_list_of_tasks_comes_back_and_a_broken_one_does_not),
      cmocka_unit_test(a_journal_is_whole_locked_and_read_back), cmocka_unit_test(requests_change_and_put_back),
      cmocka_unit_test(every_thread_is_visited_and_known_by_its_start),
      cmocka_unit_test(the_longest_list_of_cpus_has_room))
