/* The tasks of the experiment taskset as they are written, and the work that they do. */
#include "experiment/taskset_tasks.h"
#include "experiment/taskset_work.h"
#include "test/check.h"

#include <string.h>

enum { TAKEN = 0, REFUSED = 2 }; /* exit codes; message.h and cmocka.h both declare print_error */

static struct task tasks[TASKS_LIMIT];
static uint32_t count;

static int read_tasks(const char *text)
{
    return tasks_read(tasks, &count, text, OS_POLICY_OTHER);
}

static void every_field_of_every_task_is_read(void **state)
{
    (void)state;
    assert_int_equal(read_tasks("motor:10ms:8ms:3ms:-:any,\xcf\x84" "2:1.5s:-:250us:-:any:2us"), TAKEN);
    assert_int_equal(count, 2);
    assert_string_equal(tasks[0].name, "motor");
    assert_int_equal(tasks[0].period_ns, 10000000);
    assert_int_equal(tasks[0].deadline_ns, 8000000);
    assert_int_equal(tasks[0].execution_ns, 3000000);
    assert_int_equal(tasks[0].cpu, OS_CPU_ANY);
    assert_int_equal(tasks[0].offset_ns, 0);
    assert_string_equal(tasks[1].name, "\xcf\x84" "2");
    assert_int_equal(tasks[1].period_ns, 1500000000);
    assert_int_equal(tasks[1].deadline_ns, 1500000000); /* - is the period */
    assert_int_equal(tasks[1].offset_ns, 2000);
}

static void priorities_are_the_systems_own(void **state)
{
    (void)state;
    char text[64] = "a:1ms:-:10us:1:any";
    assert_int_equal(tasks_read(tasks, &count, text, OS_POLICY_FIFO), TAKEN);
    assert_int_equal(tasks[0].priority, 1);
    assert_int_equal(os_priority_to_native(OS_POLICY_FIFO, tasks[0].below_highest), 1);
    assert_int_equal(tasks_read(tasks, &count, "a:1ms:-:10us:0:any", OS_POLICY_FIFO), REFUSED);
    assert_int_equal(tasks_read(tasks, &count, "a:1ms:-:10us:100:any", OS_POLICY_FIFO), REFUSED);
    assert_int_equal(tasks_read(tasks, &count, "a:1ms:-:10us:-:any", OS_POLICY_FIFO), REFUSED);
    assert_int_equal(tasks_read(tasks, &count, "a:1ms:-:10us:5:any", OS_POLICY_OTHER), REFUSED);
}

static void what_is_no_task_is_refused(void **state)
{
    (void)state;
    const char *const wrong[] = {
        "",                                 /* nothing */
        "a:1ms:-:10us:-",                   /* no CPU */
        "a:1ms:-:10us:-:any:0s:1ms:1",      /* too many fields */
        ":1ms:-:10us:-:any",                /* no name */
        "a\xff:1ms:-:10us:-:any",           /* no UTF-8 */
        "a:1ms:-:10us:-:any,",              /* a task that is not there */
        "a:1ms:-:10us:-:any,a:1ms:-:10us:-:any", /* twice */
        "a:1:-:10us:-:any",                 /* no unit */
        "a:0s:-:10us:-:any",                /* no length */
        "a:9223372036854775807ns:-:10us:-:any", /* its second release would come after the clock's end */
        "a:1ms:-:0us:-:any",
        "a:1ms:10us:11us:-:any",            /* longer than its deadline */
        "a:1ms:-:10us:-:4095",              /* no such CPU */
        "a:1ms:-:10us:-:one",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(read_tasks(wrong[i]), REFUSED);
    }
}

static void as_many_tasks_are_taken_as_there_is_room_for(void **state)
{
    (void)state;
    char text[2048] = "";
    for (int i = 0; i <= TASKS_LIMIT; i++) {
        char task[] = ",00:1s:-:1us:-:any";
        task[1] = (char)('0' + i / 10);
        task[2] = (char)('0' + i % 10);
        strncat(text, i == 0 ? task + 1 : task, sizeof text - strlen(text) - 1);
        assert_int_equal(read_tasks(text), i < TASKS_LIMIT ? TAKEN : REFUSED);
    }
}

static void steps_add_up_in_any_pieces(void **state)
{
    (void)state;
    const uint64_t whole = work_steps(88172645463325252U, 1000);
    assert_int_equal(work_steps(88172645463325252U, 1), 8748534153485358512U); /* Marsaglia (2003), its first number */
    assert_true(whole == work_steps(work_steps(88172645463325252U, 400), 600));
    assert_true(whole != 0);
}

static void twice_the_time_is_twice_the_steps(void **state)
{
    (void)state;
    const struct work_cost cost = {.lower_ns = 1900000, .median_ns = 2000000, .upper_ns = 2020000};
    assert_int_equal(work_of(WORK_CALIBRATED, 1000000, &cost).steps, 500000);
    assert_int_equal(work_of(WORK_CALIBRATED, 2000000, &cost).steps, 1000000);
    assert_int_equal(work_cost_spread(&cost), 60);
    const struct work_cost slower = {.median_ns = 2100000};
    assert_int_equal(work_cost_change(&cost, &slower), 50);
}

static void what_a_step_costs_can_be_found_out(void **state)
{
    (void)state;
    const struct work_cost cost = work_measure_cost();
    assert_true(cost.lower_ns > 0);
    assert_true(cost.lower_ns <= cost.median_ns);
    assert_true(cost.median_ns <= cost.upper_ns);
}

TESTS(cmocka_unit_test(every_field_of_every_task_is_read), cmocka_unit_test(priorities_are_the_systems_own),
      cmocka_unit_test(what_is_no_task_is_refused), cmocka_unit_test(as_many_tasks_are_taken_as_there_is_room_for),
      cmocka_unit_test(steps_add_up_in_any_pieces), cmocka_unit_test(twice_the_time_is_twice_the_steps),
      cmocka_unit_test(what_a_step_costs_can_be_found_out))
