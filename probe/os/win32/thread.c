/* Threads: CreateThread, made to stand still until they have policy, priority and CPU. */
#include "win32.h"

#include "os/identity.h"

#include <stdlib.h>

enum { DEFAULT_STACK_BYTES = 256 * 1024, START_PATIENCE_MS = 10000 };

/* Whoever comes first decides: the thread that it runs, or its creator that nobody waits for it any more. */
enum standing { STANDING_AWAITED, STANDING_STARTED, STANDING_ABANDONED };

static DWORD slot = TLS_OUT_OF_INDEXES;
static struct os_thread first;
static SRWLOCK guard = SRWLOCK_INIT; /* of the list */
static struct os_thread *all;

struct os_thread *win32_self(void)
{
    return TlsGetValue(slot);
}

static void enter_list(struct os_thread *thread)
{
    AcquireSRWLockExclusive(&guard);
    thread->next = all;
    all = thread;
    ReleaseSRWLockExclusive(&guard);
}

static void leave_list(const struct os_thread *thread)
{
    AcquireSRWLockExclusive(&guard);
    for (struct os_thread **place = &all; *place != NULL; place = &(*place)->next) {
        if (*place == thread) {
            *place = thread->next;
            break;
        }
    }
    ReleaseSRWLockExclusive(&guard);
}

void win32_for_each_thread(void (*visit)(struct os_thread *thread))
{
    AcquireSRWLockShared(&guard);
    for (struct os_thread *thread = all; thread != NULL; thread = thread->next) {
        visit(thread);
    }
    ReleaseSRWLockShared(&guard);
}

enum os_status win32_thread_begin(void)
{
    HANDLE own = GetCurrentProcess();
    slot = TlsAlloc();
    first.attributes = (struct os_thread_attributes){.cpu = OS_CPU_ANY};
    first.timer = win32_timer_create();
    if (slot == TLS_OUT_OF_INDEXES || first.timer == NULL ||
        !DuplicateHandle(own, GetCurrentThread(), own, &first.handle, 0, FALSE, DUPLICATE_SAME_ACCESS)) {
        return OS_NO_MEMORY;
    }
    enter_list(&first);
    return TlsSetValue(slot, &first) ? OS_OK : OS_NO_MEMORY;
}

static void set_name(HANDLE thread, const char *name)
{
    typedef HRESULT WINAPI describe_call(HANDLE, PCWSTR);
    describe_call *const describe = (describe_call *)win32_find("kernelbase.dll", "SetThreadDescription");
    wchar_t wide[16];
    size_t length = 0;
    for (; name != NULL && name[length] != '\0' && length + 1 < sizeof wide / sizeof wide[0]; length++) {
        wide[length] = (wchar_t)name[length];
    }
    wide[length] = L'\0';
    if (describe != NULL && length > 0) {
        (void)describe(thread, wide);
    }
}

static DWORD WINAPI start(void *argument)
{
    struct os_thread *const thread = argument;
    int awaited = STANDING_AWAITED;
    TlsSetValue(slot, thread);
    if (thread->is_realtime) {
        win32_lock_stack();
    }
    if (!atomic_compare_exchange_strong(&thread->standing, &awaited, STANDING_STARTED)) {
        return 0; /* nobody waits for it any more */
    }
    SetEvent(thread->started);
    thread->entry(thread->argument);
    atomic_store(&thread->ended, true);
    return 0;
}

static bool is_ranked(const struct os_thread *thread)
{
    return thread->attributes.policy == OS_POLICY_RR;
}

static void free_thread(struct os_thread *thread)
{
    HANDLE *const handles[] = {&thread->handle, &thread->timer, &thread->started};
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++) {
        if (*handles[i] != NULL) {
            CloseHandle(*handles[i]);
        }
    }
    free(thread);
}

/* It stands still yet, with its whole stack committed. */
static enum os_status make_native(struct os_thread *made)
{
    const size_t stack = made->attributes.stack_bytes != 0 ? made->attributes.stack_bytes : (size_t)DEFAULT_STACK_BYTES;
    made->timer = win32_timer_create();
    made->started = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (made->timer == NULL || made->started == NULL) {
        return OS_NO_MEMORY;
    }
    made->handle = CreateThread(NULL, stack, start, made, CREATE_SUSPENDED, NULL);
    return made->handle != NULL ? OS_OK : win32_status(GetLastError());
}

static enum os_status set_attributes(const struct os_thread *made)
{
    const struct os_thread_attributes *const wanted = &made->attributes;
    GROUP_AFFINITY affinity;
    set_name(made->handle, wanted->name);
    if (wanted->cpu != OS_CPU_ANY && (!win32_affinity_of(wanted->cpu, &affinity) ||
                                      !SetThreadGroupAffinity(made->handle, &affinity, NULL))) {
        return OS_INVALID;
    }
    return win32_set_priority(made->handle, wanted->policy, wanted->below_highest) ? OS_OK : win32_status(GetLastError());
}

/* After this it runs, or will, and its creator must not free it before it has ended. */
static enum os_status let_run(struct os_thread *made)
{
    int awaited = STANDING_AWAITED;
    ResumeThread(made->handle);
    if (WaitForSingleObject(made->started, START_PATIENCE_MS) != WAIT_OBJECT_0 &&
        atomic_compare_exchange_strong(&made->standing, &awaited, STANDING_ABANDONED)) {
        os_threads_unpin(); /* so that it can come to its end elsewhere */
        return OS_TIMED_OUT;
    }
    return OS_OK;
}

static enum os_status create(struct os_thread **thread, const struct os_thread_attributes *attributes,
                             os_thread_entry entry, void *argument, bool is_realtime)
{
    if (attributes->policy == OS_POLICY_FIFO || attributes->policy == OS_POLICY_DEADLINE) {
        return OS_UNSUPPORTED;
    }
    if (is_realtime && attributes->policy == OS_POLICY_RR &&
        (attributes->below_highest < 0 || attributes->below_highest >= os_priority_levels(OS_POLICY_RR))) {
        return OS_INVALID;
    }
    struct os_thread *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    made->attributes = *attributes;
    made->is_realtime = is_realtime;
    made->entry = entry;
    made->argument = argument;
    if (is_ranked(made) && !win32_class_raise()) {
        free(made);
        return OS_NOT_PERMITTED;
    }
    enum os_status status = make_native(made);
    if (status == OS_OK) {
        status = set_attributes(made);
        if (status != OS_OK) {
            TerminateThread(made->handle, 0); /* it has not begun */
        }
    }
    if (status != OS_OK) {
        if (is_ranked(made)) {
            win32_class_lower();
        }
        free_thread(made);
        return status;
    }
    enter_list(made);
    status = let_run(made);
    if (status == OS_OK) {
        win32_note_cpu(attributes->cpu);
        *thread = made;
    }
    return status; /* when it timed out, it still refers to `made`, whenever it comes to run */
}

enum os_status os_thread_create(struct os_thread **thread, const struct os_thread_attributes *attributes,
                                os_thread_entry entry, void *argument)
{
    return create(thread, attributes, entry, argument, true);
}

enum os_status os_thread_create_ordinary(struct os_thread **thread, const struct os_thread_attributes *attributes,
                                         os_thread_entry entry, void *argument)
{
    return create(thread, attributes, entry, argument, false);
}

enum os_status os_thread_join(struct os_thread *thread)
{
    if (WaitForSingleObject(thread->handle, INFINITE) != WAIT_OBJECT_0) {
        return win32_status(GetLastError());
    }
    leave_list(thread);
    if (is_ranked(thread)) {
        win32_class_lower();
    }
    free_thread(thread);
    return OS_OK;
}

/* ---- Of a thread -------------------------------------------------------- */

static void CALLBACK do_nothing(ULONG_PTR argument)
{
    (void)argument; /* that it was called ends the wait */
}

/* A wait for a pipe is another one than all others. */
enum os_status os_thread_interrupt(struct os_thread *thread)
{
    if (atomic_load(&thread->ended)) {
        return OS_OK;
    }
    (void)CancelSynchronousIo(thread->handle);
    return QueueUserAPC(do_nothing, thread->handle, 0) != 0 || atomic_load(&thread->ended) ? OS_OK
                                                                                          : win32_status(GetLastError());
}

void win32_wake_first(void)
{
    (void)QueueUserAPC(do_nothing, first.handle, 0);
}

enum os_status os_thread_suspend(struct os_thread *thread)
{
    return SuspendThread(thread->handle) != (DWORD)-1 ? OS_OK : win32_status(GetLastError());
}

enum os_status os_thread_resume(struct os_thread *thread)
{
    return ResumeThread(thread->handle) != (DWORD)-1 ? OS_OK : win32_status(GetLastError());
}

int64_t os_thread_number_of(const struct os_thread *thread)
{
    return (int64_t)GetThreadId(thread->handle);
}

int64_t os_thread_number(void)
{
    return (int64_t)GetCurrentThreadId();
}

void os_yield(void)
{
    SwitchToThread();
}
