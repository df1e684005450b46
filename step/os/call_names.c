/* syscalls(2): those that are usual in programs. */
#include "call_names.h"

#include <stddef.h>
#include <sys/syscall.h>

#define NAME(call) {SYS_##call, #call}

static const struct {
    int64_t number;
    const char *name;
} names[] = {
    NAME(accept), NAME(accept4), NAME(bind), NAME(brk), NAME(clock_getres), NAME(clock_gettime), NAME(clock_nanosleep),
    NAME(clock_settime), NAME(clone), NAME(clone3), NAME(close), NAME(close_range), NAME(connect), NAME(copy_file_range),
    NAME(dup), NAME(dup3), NAME(epoll_create1), NAME(epoll_ctl), NAME(epoll_pwait), NAME(eventfd2), NAME(execve),
    NAME(exit), NAME(exit_group), NAME(faccessat), NAME(fallocate), NAME(fchmod), NAME(fcntl), NAME(fdatasync),
    NAME(fgetxattr), NAME(flock), NAME(fstat), NAME(fstatfs), NAME(fsync), NAME(ftruncate), NAME(futex), NAME(getcpu),
    NAME(getcwd), NAME(getdents64), NAME(geteuid), NAME(getpid), NAME(getppid), NAME(getpriority), NAME(getrandom),
    NAME(getrusage), NAME(getsockname), NAME(getsockopt), NAME(gettid), NAME(gettimeofday), NAME(getuid),
    NAME(inotify_add_watch), NAME(inotify_init1), NAME(io_submit), NAME(io_uring_enter), NAME(ioctl), NAME(kill),
    NAME(linkat), NAME(listen), NAME(lseek), NAME(madvise), NAME(membarrier), NAME(memfd_create), NAME(mincore),
    NAME(mkdirat), NAME(mlock), NAME(mlock2), NAME(mlockall), NAME(mmap), NAME(mprotect), NAME(mq_open),
    NAME(mq_timedreceive), NAME(mq_timedsend), NAME(mremap), NAME(msgrcv), NAME(msgsnd), NAME(msync), NAME(munlock),
    NAME(munmap), NAME(nanosleep), NAME(openat), NAME(perf_event_open), NAME(pidfd_open), NAME(pipe2), NAME(ppoll),
    NAME(prctl), NAME(pread64), NAME(preadv), NAME(prlimit64), NAME(pselect6), NAME(pwrite64), NAME(pwritev), NAME(read),
    NAME(readlinkat), NAME(readv), NAME(recvfrom), NAME(recvmmsg), NAME(recvmsg), NAME(renameat), NAME(renameat2),
    NAME(rseq), NAME(rt_sigaction), NAME(rt_sigpending), NAME(rt_sigprocmask), NAME(rt_sigqueueinfo), NAME(rt_sigreturn),
    NAME(rt_sigsuspend), NAME(rt_sigtimedwait), NAME(sched_getaffinity), NAME(sched_getparam), NAME(sched_getscheduler),
    NAME(sched_setaffinity), NAME(sched_setattr), NAME(sched_setparam), NAME(sched_setscheduler), NAME(sched_yield),
    NAME(semop), NAME(semtimedop), NAME(sendfile), NAME(sendmmsg), NAME(sendmsg), NAME(sendto), NAME(set_robust_list),
    NAME(setitimer), NAME(setpriority), NAME(setsockopt), NAME(shmat), NAME(shmctl), NAME(shmdt), NAME(shmget),
    NAME(shutdown), NAME(sigaltstack), NAME(socket), NAME(socketpair), NAME(splice), NAME(statfs), NAME(statx), NAME(sync),
    NAME(sysinfo), NAME(tgkill), NAME(timer_create), NAME(timer_delete), NAME(timer_gettime), NAME(timer_settime),
    NAME(timerfd_create), NAME(timerfd_gettime), NAME(timerfd_settime), NAME(times), NAME(truncate), NAME(uname),
    NAME(unlinkat), NAME(utimensat), NAME(vmsplice), NAME(wait4), NAME(waitid), NAME(write), NAME(writev),
#if defined(__x86_64__) /* newer machines have none of these */
    NAME(access), NAME(alarm), NAME(arch_prctl), NAME(chmod), NAME(creat), NAME(dup2), NAME(epoll_create), NAME(epoll_wait),
    NAME(eventfd), NAME(fork), NAME(getdents), NAME(getrlimit), NAME(inotify_init), NAME(link), NAME(lstat), NAME(mkdir),
    NAME(newfstatat), NAME(open), NAME(pause), NAME(pipe), NAME(poll), NAME(readlink), NAME(rename), NAME(rmdir),
    NAME(select), NAME(setrlimit), NAME(signalfd), NAME(stat), NAME(symlink), NAME(sync_file_range), NAME(time),
    NAME(unlink), NAME(vfork),
#endif
};

const char *call_name_of(int64_t number)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].number == number) {
            return names[i].name;
        }
    }
    return NULL;
}
