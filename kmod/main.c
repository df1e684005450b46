// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The kernel-space half of Tautochrone's probe: /dev/tautochrone (tautochrone.h says how it is spoken to). Loaded and
 * not opened it has no thread, no timer and no buffer. An experiment lives no longer than the file that began it; while
 * that is open, the module is in use and can't be unloaded.
 */
#include <linux/bitops.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "session.h"

static unsigned long in_use; /* bit 0 */

static int tautochrone_open(struct inode *inode, struct file *file)
{
	struct session *session;

	/* Threads of any real-time priority, and memory of the kernel: an administrator's. */
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (test_and_set_bit_lock(0, &in_use))
		return -EBUSY;
	session = session_open();
	if (!session) {
		clear_bit_unlock(0, &in_use);
		return -ENOMEM;
	}
	file->private_data = session;
	return stream_open(inode, file);
}

static int tautochrone_release(struct inode *inode, struct file *file)
{
	session_close(file->private_data);
	clear_bit_unlock(0, &in_use);
	return 0;
}

static ssize_t tautochrone_read(struct file *file, char __user *to, size_t bytes, loff_t *position)
{
	struct session *session = file->private_data;
	ssize_t given = -EINVAL;
	bool ended;

	if (mutex_lock_interruptible(&session->lock))
		return -ERESTARTSYS;
	ended = smp_load_acquire(&session->ended); /* before looking: nothing comes after it */
	if (session->measure && bytes >= sizeof(struct tautochrone_record)) {
		given = ring_read(&session->ring, to, bytes);
		if (!given && !ended)
			given = -EAGAIN;
	}
	mutex_unlock(&session->lock);
	return given;
}

static long set_up(struct session *session, void __user *user)
{
	struct tautochrone_setup setup;
	int error;

	if (copy_from_user(&setup, user, sizeof(setup)))
		return -EFAULT;
	error = session_set_up(session, &setup);
	if (!error && copy_to_user(user, &setup, sizeof(setup)))
		error = -EFAULT;
	return error;
}

static long tell_books(struct session *session, void __user *user)
{
	struct tautochrone_books books;

	session_books(session, &books);
	return copy_to_user(user, &books, sizeof(books)) ? -EFAULT : 0;
}

static long receive(struct session *session, void __user *user)
{
	s64 number = 0;
	int error = response_user_receive(session, &number);

	if (!error && copy_to_user(user, &number, sizeof(number)))
		error = -EFAULT;
	return error;
}

static long answer(struct session *session, const void __user *user)
{
	s64 received_ns;

	if (copy_from_user(&received_ns, user, sizeof(received_ns)))
		return -EFAULT;
	return response_user_answer(session, received_ns);
}

static long hold_on(void __user *user)
{
	struct tautochrone_hold hold;
	int error;

	if (copy_from_user(&hold, user, sizeof(hold)))
		return -EFAULT;
	error = hold_cpu(&hold);
	if (!error && copy_to_user(user, &hold, sizeof(hold)))
		error = -EFAULT;
	return error;
}

static long control(struct session *session, unsigned int command, void __user *user)
{
	switch (command) {
	case TAUTOCHRONE_SETUP:
		return set_up(session, user);
	case TAUTOCHRONE_START:
		return session_start(session);
	case TAUTOCHRONE_STOP:
		session_stop(session);
		return 0;
	case TAUTOCHRONE_BOOKS:
		return tell_books(session, user);
	default:
		return -ENOTTY;
	}
}

static long tautochrone_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct session *session = file->private_data;
	void __user *user = (void __user *)argument;
	long result;

	/* These wait, or lie within what is measured: without the lock. */
	if (command == TAUTOCHRONE_RECEIVE)
		return receive(session, user);
	if (command == TAUTOCHRONE_ANSWER)
		return answer(session, user);
	if (command == TAUTOCHRONE_HOLD)
		return hold_on(user);
	if (mutex_lock_interruptible(&session->lock))
		return -ERESTARTSYS;
	result = control(session, command, user);
	mutex_unlock(&session->lock);
	return result;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = tautochrone_open,
	.release = tautochrone_release,
	.read = tautochrone_read,
	.unlocked_ioctl = tautochrone_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "tautochrone",
	.fops = &operations,
	.mode = 0600,
};
module_misc_device(device);

MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Tautochrone: the kernel-space half of its probe");
MODULE_AUTHOR("The Tautochrone project");
