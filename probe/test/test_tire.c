/* All solvers compute the same tire, to the last bit. */
#include "test/tire_run.h"

#include "tire/locked.h"
#include "tire/nodes.h"

#include <math.h>

enum { CASES = 5, COUNTS = 5, THREADS_MOST = 8 };
static const int64_t node_cases[CASES] = {4, 8, 12, 40, 404};
static const uint32_t thread_counts[COUNTS] = {1, 2, 3, 5, 8};
/* With these it is tried in threads that run at the same time; with the others, their parts run in turn. */
static const uint32_t together[CASES] = {3, 8, 5, 2, 5};

static struct tire_parameters falling(int64_t nodes)
{
    return (struct tire_parameters){.nodes = nodes, .step_ns = TIRE_STEP_NS, .drop_m = 0.5, .gravity = true};
}

/* What all the others are compared with. */
static struct tire_state after_falling(int64_t nodes, uint64_t steps)
{
    const struct tire_parameters parameters = falling(nodes);
    struct tire *const tire = tire_new(&parameters, TIRE_SINGLE, 1);
    struct tire_state state = state_new(nodes);
    tire_run(tire, 1, 0, steps);
    state_read(&state, tire, steps);
    tire_destroy(tire);
    return state;
}

struct worker {
    struct tire *tire;
    struct os_barrier *barrier;
    uint64_t steps;
    uint32_t place;
    struct os_thread *thread;
};

static void work(void *argument)
{
    const struct worker *const worker = argument;
    for (uint64_t step = 0; step < worker->steps; step++) {
        tire_step(worker->tire, worker->place, step, NULL);
        if (os_barrier_meet(worker->barrier)) {
            os_barrier_open(worker->barrier);
        }
    }
}

static void run_in_threads(struct tire *tire, uint32_t threads, uint64_t steps)
{
    static const struct os_thread_attributes ordinary = {.name = "tire", .cpu = OS_CPU_ANY};
    struct worker workers[THREADS_MOST];
    struct os_barrier *barrier = NULL;
    assert_int_equal(os_barrier_create(&barrier, threads, threads <= 2 ? 20000 : 0), OS_OK);
    for (uint32_t i = 0; i < threads; i++) {
        workers[i] = (struct worker){.tire = tire, .barrier = barrier, .steps = steps, .place = i};
        assert_int_equal(os_thread_create(&workers[i].thread, &ordinary, work, &workers[i]), OS_OK);
    }
    for (uint32_t i = 0; i < threads; i++) {
        assert_int_equal(os_thread_join(workers[i].thread), OS_OK);
    }
    os_barrier_destroy(barrier);
}

static bool has_lock_of(enum tire_solver_kind kind)
{
    const enum os_service service = kind == TIRE_SEMAPHORE ? OS_SERVICE_SEMAPHORE : OS_SERVICE_MUTEX_INHERIT;
    return kind == TIRE_HALO || os_service_available(service).availability == OS_PRESENT;
}

static void runs_agree(enum tire_solver_kind kind, int64_t nodes, uint32_t threads, bool at_once, uint64_t steps)
{
    const struct tire_parameters parameters = falling(nodes);
    struct tire *const tire = tire_new(&parameters, kind, threads);
    struct tire_state expected = after_falling(nodes, steps);
    struct tire_state found = state_new(nodes);
    if (at_once) {
        run_in_threads(tire, threads, steps);
    } else {
        tire_run(tire, threads, 0, steps);
    }
    state_read(&found, tire, steps);
    assert_true(state_same(&found, &expected));
    state_free(&found);
    state_free(&expected);
    tire_destroy(tire);
}

/* The thread sanitizer takes a quarter of a microsecond for each of the eight calls of a mass. */
static uint64_t affordable(enum tire_solver_kind kind, int64_t nodes, int64_t node_steps)
{
    return kind == TIRE_HALO || nodes * TIRE_STEPS < node_steps ? TIRE_STEPS : (uint64_t)(node_steps / nodes);
}

static void threads_agree(enum tire_solver_kind kind)
{
    if (!has_lock_of(kind)) {
        print_message("not shown: this system has no such lock\n");
        return;
    }
    for (int i = 0; i < CASES; i++) {
        const int64_t nodes = node_cases[i];
        for (int k = 0; k < COUNTS && thread_counts[k] <= nodes; k++) {
            runs_agree(kind, nodes, thread_counts[k], false, affordable(kind, nodes, 24000));
        }
        runs_agree(kind, nodes, together[i], true, affordable(kind, nodes, 240000));
    }
}

static void semaphores_and_threads_change_no_bit(void **state)
{
    (void)state;
    threads_agree(TIRE_SEMAPHORE);
}

static void mutexes_and_threads_change_no_bit(void **state)
{
    (void)state;
    threads_agree(TIRE_MUTEX_PI);
}

static void halos_and_threads_change_no_bit(void **state)
{
    (void)state;
    threads_agree(TIRE_HALO);
}

/* Every length of the last block, with the seams of every number of threads. */
static void vectors_of_any_width_change_no_bit(void **state)
{
    (void)state;
    struct tire_kernel_entry kernels[4];
    const size_t count = tire_kernels_here(kernels, 4);
    assert_true(count > 0);
    assert_string_equal(kernels[count - 1].name, tire_vector_name());
    for (int64_t nodes = 4; nodes <= 72; nodes += 4) {
        struct tire_state expected = after_falling(nodes, TIRE_STEPS);
        struct tire_state found = state_new(nodes);
        const struct tire_parameters parameters = falling(nodes);
        const uint32_t threads = 1 + (uint32_t)(nodes / 4) % 4;
        struct tire *const tire = tire_new(&parameters, TIRE_HALO, threads);
        for (size_t i = 0; i < count; i++) {
            tire_reset(tire);
            tire_halo_use(tire, kernels[i].run);
            tire_run(tire, threads, 0, TIRE_STEPS);
            state_read(&found, tire, TIRE_STEPS);
            assert_true(state_same(&found, &expected));
        }
        tire_destroy(tire);
        state_free(&found);
        state_free(&expected);
    }
}

static int64_t mirrored(int64_t node, int64_t nodes)
{
    return (nodes + nodes / 2 - node) % nodes;
}

static void assert_mirrored(const struct tire_state *state)
{
    for (int64_t i = 0; i < state->nodes; i++) {
        const int64_t other = mirrored(i, state->nodes);
        assert_true(state->x[i] == -state->x[other] && state->y[i] == state->y[other]);
        assert_true(state->vx[i] == -state->vx[other] && state->vy[i] == state->vy[other]);
    }
}

static void left_and_right_mirror_each_other_to_the_last_bit(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        const struct tire_parameters parameters = falling(node_cases[i]);
        struct tire *const tire = tire_new(&parameters, TIRE_HALO, 2);
        struct tire_state found = state_new(node_cases[i]);
        for (uint64_t steps = 0; steps < TIRE_STEPS; steps += 10) {
            state_read(&found, tire, steps);
            assert_mirrored(&found);
            tire_run(tire, 2, steps, steps + 10);
        }
        state_free(&found);
        tire_destroy(tire);
    }
}

static void a_reset_begins_anew(void **state)
{
    (void)state;
    for (int kind = 0; kind < TIRE_SOLVER_COUNT; kind++) {
        if (kind != TIRE_SINGLE && !has_lock_of((enum tire_solver_kind)kind)) {
            continue;
        }
        const struct tire_parameters parameters = falling(40);
        struct tire *const tire = tire_new(&parameters, (enum tire_solver_kind)kind, 1);
        struct tire_state first = state_new(40);
        struct tire_state second = state_new(40);
        tire_run(tire, 1, 0, 101);
        state_read(&first, tire, 101);
        tire_reset(tire);
        tire_run(tire, 1, 0, 101);
        state_read(&second, tire, 101);
        assert_true(state_same(&first, &second));
        state_free(&first);
        state_free(&second);
        tire_destroy(tire);
    }
}

static void every_mass_belongs_to_one_thread(void **state)
{
    (void)state;
    for (int kind = TIRE_SEMAPHORE; kind < TIRE_SOLVER_COUNT; kind++) {
        for (uint32_t threads = 1; threads <= 44; threads++) {
            if (!has_lock_of((enum tire_solver_kind)kind)) {
                continue;
            }
            const struct tire_parameters parameters = falling(44);
            struct tire *const tire = tire_new(&parameters, (enum tire_solver_kind)kind, threads);
            int64_t sum = 0;
            for (uint32_t thread = 0; thread < threads; thread++) {
                const int64_t own = tire_nodes_of(tire, thread);
                /* Algorithm 1: floor(n/i), and what remains spread. */
                assert_true(kind == TIRE_HALO || own == 44 / threads || own == 44 / threads + 1);
                assert_true(own >= 0);
                sum += own;
            }
            assert_int_equal(sum, 44);
            tire_destroy(tire);
        }
    }
}

/* Locks that are counted and have one holder at most, and by which nobody waits. */
struct counted {
    int held;
    int64_t taken;
};
static struct counted *counted_first;
static int64_t counted_made;

static enum os_status create_counted(void **lock)
{
    *lock = &counted_first[counted_made++];
    return OS_OK;
}

static void destroy_counted(void *lock)
{
    (void)lock;
}

static void acquire_counted(void *lock)
{
    struct counted *const own = lock;
    assert_int_equal(own->held++, 0);
    own->taken++;
}

static void release_counted(void *lock)
{
    struct counted *const own = lock;
    assert_int_equal(own->held--, 1);
}

/* Algorithm 1: of each of its masses a thread reads three others, and writes one; 4e accesses for e masses. */
static void every_mass_is_locked_by_three_readers_and_by_who_writes_it(void **state)
{
    (void)state;
    enum { NODES = 44 };
    static const struct tire_lock_kind locks = {create_counted, destroy_counted, acquire_counted, release_counted};
    static const struct tire_kind kind = {
        .step = tire_locked_step, .destroy = tire_locked_destroy, .get = tire_nodes_get, .put = tire_nodes_put};
    const struct tire_parameters parameters = falling(NODES);
    for (uint32_t threads = 1; threads <= 5; threads++) {
        struct counted found[NODES] = {0};
        struct tire tire = {.model = tire_model_of(&parameters), .kind = &kind, .threads = threads};
        counted_first = found;
        counted_made = 0;
        assert_int_equal(tire_locked_create(&tire, &locks), OS_OK);
        assert_int_equal(counted_made, NODES);
        tire_reset(&tire);
        int64_t before = 0;
        for (uint32_t thread = 0; thread < threads; thread++) {
            tire_step(&tire, thread, 0, NULL);
            int64_t taken = -before;
            for (int i = 0; i < NODES; i++) {
                taken += found[i].taken;
            }
            assert_int_equal(taken, 4 * tire_locked_nodes_of(&tire, thread));
            before += taken;
        }
        for (int i = 0; i < NODES; i++) {
            assert_int_equal(found[i].taken, 4);
            assert_int_equal(found[i].held, 0);
        }
        tire_locked_destroy(&tire);
    }
}

static void stamps_come_in_order_and_change_nothing(void **state)
{
    (void)state;
    struct tire_state expected = after_falling(12, TIRE_STEPS);
    struct tire_state found = state_new(12);
    for (int kind = 0; kind < TIRE_SOLVER_COUNT; kind++) {
        if (kind != TIRE_SINGLE && !has_lock_of((enum tire_solver_kind)kind)) {
            continue;
        }
        const struct tire_parameters parameters = falling(12);
        struct tire *const tire = tire_new(&parameters, (enum tire_solver_kind)kind, 1);
        for (uint64_t step = 0; step < TIRE_STEPS; step++) {
            struct tire_stamps stamps = {0};
            const int64_t start_ns = os_now_ns();
            tire_step(tire, 0, step, &stamps);
            assert_true(start_ns <= stamps.read_ns && stamps.read_ns <= stamps.forces_ns);
            assert_true(stamps.forces_ns <= stamps.integrated_ns && stamps.integrated_ns <= stamps.written_ns);
            assert_true(stamps.written_ns <= os_now_ns());
        }
        state_read(&found, tire, TIRE_STEPS);
        assert_true(state_same(&found, &expected));
        tire_destroy(tire);
    }
    state_free(&found);
    state_free(&expected);
}

static void a_coarse_reading_has_every_so_many_th_mass(void **state)
{
    (void)state;
    const struct tire_parameters parameters = falling(40);
    struct tire *const tire = tire_new(&parameters, TIRE_HALO, 1);
    struct tire_state full = state_new(40);
    float coarse[28] = {0};
    tire_run(tire, 1, 0, 35);
    state_read(&full, tire, 35);
    tire_read_coarsely(tire, 35, 3, coarse);
    for (size_t i = 0; i < 14; i++) {
        assert_true(coarse[2 * i] == (float)full.x[3 * i]);
        assert_true(coarse[2 * i + 1] == (float)full.y[3 * i]);
    }
    state_free(&full);
    tire_destroy(tire);
}

static bool wrong(struct tire_parameters parameters)
{
    return tire_model_wrong(&parameters) != NULL;
}

static void what_is_no_tire_is_refused(void **state)
{
    (void)state;
    const double limit = tire_stiffness_limit(TIRE_STEP_NS);
    struct tire_parameters parameters = falling(400);
    assert_false(wrong(parameters));
    for (int64_t nodes = -4; nodes < 12; nodes++) {
        assert_true(wrong(falling(nodes)) == (nodes != 4 && nodes != 8));
    }
    assert_true(wrong(falling(TIRE_NODES_MOST + 4LL)));
    parameters.stiffness_per_mass = 0.999 * limit;
    assert_false(wrong(parameters));
    parameters.stiffness_per_mass = limit;
    assert_true(wrong(parameters));
    parameters.stiffness_per_mass = -1;
    assert_true(wrong(parameters));
    parameters.stiffness_per_mass = NAN;
    assert_true(wrong(parameters));
    parameters = falling(400);
    parameters.step_ns = 0;
    assert_true(wrong(parameters));
    parameters = falling(400);
    parameters.drop_m = -0.1;
    assert_true(wrong(parameters));
    parameters.drop_m = INFINITY;
    assert_true(wrong(parameters));
}

static void a_tire_has_one_and_a_half_springs_for_each_mass(void **state)
{
    (void)state;
    assert_int_equal(tire_springs(8), 12);
    assert_int_equal(tire_springs(400), 600);
    for (int kind = 0; kind < TIRE_SOLVER_COUNT; kind++) {
        assert_int_equal(tire_bytes_per_node((enum tire_solver_kind)kind), kind == TIRE_HALO ? 32 : 64);
        assert_non_null(tire_solver_names[kind]);
    }
    assert_null(tire_solver_names[TIRE_SOLVER_COUNT]);
}

static void the_masses_begin_on_a_circle(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    static const int64_t cases[] = {4, 8, 12, 40, 404, 1000000};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct tire_parameters parameters = falling(cases[i]);
        const struct tire_model model = tire_model_of(&parameters);
        double worst = 0;
        for (int64_t node = 0; node < cases[i]; node++) {
            double x = 0;
            double y = 0;
            tire_model_place(&model, node, &x, &y);
            const double angle = 2 * pi * (double)node / (double)cases[i];
            worst = fmax(worst, fabs(x - model.radius_m * cos(angle)));
            worst = fmax(worst, fabs(y - (0.5 + model.radius_m * (1 + sin(angle)))));
        }
        assert_true(worst < 5e-16);
    }
}

TESTS(cmocka_unit_test(semaphores_and_threads_change_no_bit), cmocka_unit_test(mutexes_and_threads_change_no_bit),
      cmocka_unit_test(halos_and_threads_change_no_bit), cmocka_unit_test(vectors_of_any_width_change_no_bit),
      cmocka_unit_test(left_and_right_mirror_each_other_to_the_last_bit), cmocka_unit_test(a_reset_begins_anew),
      cmocka_unit_test(every_mass_belongs_to_one_thread),
      cmocka_unit_test(every_mass_is_locked_by_three_readers_and_by_who_writes_it),
      cmocka_unit_test(stamps_come_in_order_and_change_nothing),
      cmocka_unit_test(a_coarse_reading_has_every_so_many_th_mass), cmocka_unit_test(what_is_no_tire_is_refused),
      cmocka_unit_test(a_tire_has_one_and_a_half_springs_for_each_mass),
      cmocka_unit_test(the_masses_begin_on_a_circle))
