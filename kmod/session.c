// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "session.h"

#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <uapi/linux/sched/types.h>

#define START_DELAY_NS		(5 * NSEC_PER_MSEC)
#define SHORTEST_PERIOD_NS	(20 * NSEC_PER_USEC) /* a shorter one would take nearly all of its CPU */
#define LONGEST_PERIOD_NS	(3600LL * NSEC_PER_SEC)
#define COUNT_LIMIT		1000000000LL

static const struct measure *const measures[TAUTOCHRONE_MEASURES] = {
	[TAUTOCHRONE_INTERRUPT] = &measure_interrupt,
	[TAUTOCHRONE_PERIOD] = &measure_period,
	[TAUTOCHRONE_RESPONSE] = &measure_response,
};

struct session *session_open(void)
{
	struct session *session = kzalloc(sizeof(*session), GFP_KERNEL);

	if (!session)
		return NULL;
	mutex_init(&session->lock);
	init_completion(&session->go);
	channel_create(&session->there);
	channel_create(&session->back);
	return session;
}

void session_close(struct session *session)
{
	session_stop(session);
	ring_destroy(&session->ring);
	kfree(session);
}

void session_record(struct session *session, const s64 *instants, unsigned int count)
{
	struct tautochrone_books *books = &session->books;

	if (session->schedule.release < 0) {
		books->warmup++;
		return;
	}
	if (ring_write(&session->ring, session->schedule.release, instants, count))
		books->recorded++;
	else
		books->dropped++;
	books->completed++;
}

s64 session_wait(struct session *session)
{
	s64 scheduled_ns = session->schedule.scheduled_ns;
	ktime_t release = ns_to_ktime(scheduled_ns);
	s64 now_ns;

	do {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!session_stopping(session))
			schedule_hrtimeout(&release, HRTIMER_MODE_ABS_PINNED);
		now_ns = ktime_get(); /* first thing */
		__set_current_state(TASK_RUNNING);
	} while (now_ns < scheduled_ns && !session_stopping(session));
	return now_ns;
}

static int run(void *argument)
{
	struct task *task = argument;
	struct session *session = task->session;

	/* Not as new kernel threads wait, which counts as hung after a while. */
	wait_for_completion_interruptible(&session->go);
	if (!session->started)
		return 0;
	task->act(session);
	if (task == &session->tasks[0]) {
		schedule_close(&session->schedule, &session->books, ktime_get());
		/* Its last stretch is added to its CPU time when it leaves the CPU, or at a tick. */
		schedule_timeout_uninterruptible(1);
		session->books.cpu_time_ns = current->se.sum_exec_runtime;
		smp_store_release(&session->ended, true);
	}
	return 0;
}

static bool lies_between(s64 value, s64 lowest, s64 highest)
{
	return value >= lowest && value <= highest;
}

static int check(const struct tautochrone_setup *setup)
{
	u32 flags = setup->measure == TAUTOCHRONE_INTERRUPT ? TAUTOCHRONE_SOFT : 0;
	u32 mechanisms = setup->measure == TAUTOCHRONE_RESPONSE ? TAUTOCHRONE_MECHANISMS : 1;

	if (setup->version != TAUTOCHRONE_VERSION)
		return -EPROTONOSUPPORT;
	if (setup->measure >= TAUTOCHRONE_MEASURES || setup->mechanism >= mechanisms ||
	    setup->flags & ~flags || setup->reserved)
		return -EINVAL;
	if (!lies_between(setup->period_ns, SHORTEST_PERIOD_NS, LONGEST_PERIOD_NS) ||
	    !lies_between(setup->count, 1, COUNT_LIMIT) || !lies_between(setup->warmup, 0, COUNT_LIMIT) ||
	    !lies_between(setup->rows, 1, RING_ROWS_LIMIT))
		return -ERANGE;
	return 0;
}

/* It waits, with everything in force, for START. */
static int make_thread(struct task *task, int number, struct tautochrone_task *wanted)
{
	struct sched_attr attributes = {
		.size = sizeof(attributes), .sched_policy = SCHED_FIFO, .sched_priority = wanted->priority,
	};
	struct task_struct *thread;
	int error;

	if (!lies_between(wanted->priority, 1, MAX_RT_PRIO - 1))
		return -EINVAL;
	if (!lies_between(wanted->cpu, 0, nr_cpu_ids - 1) || !cpu_online(wanted->cpu))
		return -ENODEV;
	thread = kthread_create(run, task, "tautochrone/%d", number);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	task->thread = get_task_struct(thread);
	kthread_bind(thread, wanted->cpu);
	error = sched_setattr_nocheck(thread, &attributes);
	wanted->cpu = cpumask_first(thread->cpus_ptr);
	wanted->priority = thread->rt_priority;
	wanted->policy = thread->policy;
	wanted->pid = task_pid_nr(thread);
	if (!error)
		wake_up_process(thread);
	return error;
}

static int make_threads(struct session *session)
{
	struct tautochrone_setup *setup = &session->setup;
	bool alone = !session->measure->task_2;
	bool with_user = !alone && setup->mechanism == TAUTOCHRONE_USER;
	int error;

	cpus_read_lock();
	session->tasks[0] = (struct task){ .session = session, .act = session->measure->task_1 };
	session->tasks[1] = (struct task){ .session = session, .act = session->measure->task_2 };
	error = make_thread(&session->tasks[0], 1, &setup->tasks[0]);
	if (!error && !alone && !with_user)
		error = make_thread(&session->tasks[1], 2, &setup->tasks[1]);
	else
		memset(&setup->tasks[1], 0, sizeof(setup->tasks[1]));
	cpus_read_unlock();
	return error;
}

int session_set_up(struct session *session, struct tautochrone_setup *setup)
{
	int error = check(setup);

	if (error)
		return error;
	if (session->started && !smp_load_acquire(&session->ended))
		return -EBUSY;
	session_stop(session);
	ring_destroy(&session->ring);
	session->measure = NULL;
	error = ring_create(&session->ring, setup->rows);
	if (error)
		return error;
	session->setup = *setup;
	session->measure = measures[setup->measure];
	session->books = (struct tautochrone_books){};
	session->started = false;
	session->stopping = false;
	session->ended = false;
	reinit_completion(&session->go);
	if (session->measure->prepare)
		session->measure->prepare(session);
	error = make_threads(session);
	if (error) {
		session_stop(session);
		session->measure = NULL;
	}
	*setup = session->setup;
	return error;
}

int session_start(struct session *session)
{
	if (!session->measure || session->started || session->stopping)
		return -EINVAL;
	session->started = true;
	schedule_begin(&session->schedule, &session->setup,
		       ktime_get() + START_DELAY_NS + session->setup.period_ns);
	complete_all(&session->go);
	return 0;
}

/* On return no thread and no timer of this session is left. */
void session_stop(struct session *session)
{
	int i;

	WRITE_ONCE(session->stopping, true);
	complete_all(&session->go);
	if (session->measure && session->measure->stop)
		session->measure->stop(session);
	for (i = 0; i < ARRAY_SIZE(session->tasks); i++) {
		struct task_struct *thread = session->tasks[i].thread;

		if (!thread)
			continue;
		kthread_stop(thread);
		put_task_struct(thread);
		session->tasks[i].thread = NULL;
	}
	smp_store_release(&session->ended, true);
}

void session_books(struct session *session, struct tautochrone_books *books)
{
	u32 ended = smp_load_acquire(&session->ended);

	*books = session->books;
	books->ended = ended;
}
