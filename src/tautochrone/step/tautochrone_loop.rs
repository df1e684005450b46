//! Your program's own loop, measured where it runs: `tauto watch -- ./program`. This file is all that a program needs, with
//! the standard library alone (Linux):
//!
//! ```
//! mod tautochrone_loop;
//! let mut measured = tautochrone_loop::Loop::new("control"); // in the thread of the loop, before its first cycle
//! for k in 0.. {
//!     // sleep until the release
//!     measured.begin(k); // or begin_at(k, release_ns): the instant that it slept until
//!     // the step
//!     measured.end(k);
//! }
//! ```
//!
//! `k` is the number of the release: what is left out counts as missed. Without `tauto watch` around the program, each line
//! costs one branch. With it, neither line waits, calls the system beside the clock, or allocates: a row that finds its ring
//! full is counted. The layout of the memory is that of `tautochrone_loop.h`.
#![allow(dead_code)]

use std::fs::OpenOptions;
use std::mem::size_of;
use std::os::raw::{c_int, c_long, c_void};
use std::os::unix::io::AsRawFd;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

const MAGIC: u64 = 0x3150_4f4f_4c41_5454;
const VARIABLE: &str = "TAUTOCHRONE_LOOP";
const NAME_BYTES: usize = 64;

#[repr(C)]
struct Memory {
    magic: u64,
    loops: u64,
    rows: u64,
    claimed: AtomicU64,
    refused: AtomicU64,
    unused: [u64; 3],
}

#[repr(C)]
struct Row {
    k: u64,
    release_ns: i64,
    begin_ns: i64,
    end_ns: i64,
}

#[repr(C)]
struct Shared {
    written: AtomicU64,
    dropped: AtomicU64,
    irregular: AtomicU64,
    k: AtomicU64,
    open: AtomicU64,
    unused_by_loop: [u64; 3],
    read: AtomicU64,
    unused_by_watcher: [u64; 7],
    thread: u64,
    process: u64,
    name: [u8; NAME_BYTES],
    unused: [u64; 6],
}

#[repr(C)]
struct Timespec {
    seconds: c_long,
    nanoseconds: c_long,
}

// In Rust's edition 2024: `unsafe extern "C"`, which compilers before 1.82 do not know.
extern "C" {
    fn clock_gettime(clock: c_int, now: *mut Timespec) -> c_int;
    fn mmap(at: *mut c_void, bytes: usize, access: c_int, flags: c_int, file: c_int, offset: c_long) -> *mut c_void;
    fn flock(file: c_int, operation: c_int) -> c_int;
    fn gettid() -> c_int;
}

/// The loop of one thread.
pub struct Loop {
    shared: *mut Shared, // null: nobody watches, or there is no place
    rows: *mut Row,
    mask: u64,
    read_seen: u64,
    open: *mut Row, // null: no step is open
    no_room: Box<Row>,
}

/// What CLOCK_MONOTONIC reads, of which releases are told.
pub fn now_ns() -> i64 {
    const CLOCK_MONOTONIC: c_int = 1;
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(CLOCK_MONOTONIC, &mut now) };
    now.seconds as i64 * 1_000_000_000 + now.nanoseconds as i64
}

impl Loop {
    /// Not in a step: it calls the system.
    pub fn new(name: &str) -> Loop {
        let mut own = Loop {
            shared: ptr::null_mut(),
            rows: ptr::null_mut(),
            mask: 0,
            read_seen: 0,
            open: ptr::null_mut(),
            no_room: Box::new(Row { k: 0, release_ns: 0, begin_ns: 0, end_ns: 0 }),
        };
        if let Some(path) = std::env::var_os(VARIABLE) {
            if let Ok(file) = OpenOptions::new().read(true).write(true).open(path) {
                own.claim(&file, name);
            }
        }
        own
    }

    fn claim(&mut self, file: &std::fs::File, name: &str) {
        const READ_AND_WRITE: c_int = 3;
        const SHARED_AND_POPULATED: c_int = 0x01 | 0x8000;
        const LOCK_EX: c_int = 2;
        let bytes = file.metadata().map_or(0, |told| told.len() as usize);
        if bytes < size_of::<Memory>() {
            return;
        }
        unsafe {
            let mapped = mmap(ptr::null_mut(), bytes, READ_AND_WRITE, SHARED_AND_POPULATED, file.as_raw_fd(), 0);
            if mapped as isize == -1 {
                return;
            }
            let memory = &*(mapped as *const Memory);
            let loop_bytes = size_of::<Shared>() + memory.rows as usize * size_of::<Row>();
            let is_ours = memory.magic == MAGIC && size_of::<Memory>() + memory.loops as usize * loop_bytes <= bytes;
            if !is_ours || flock(file.as_raw_fd(), LOCK_EX) != 0 {
                return;
            }
            let claimed = memory.claimed.load(Ordering::Relaxed);
            if claimed >= memory.loops {
                memory.refused.fetch_add(1, Ordering::Relaxed);
                return; // the lock goes with the file
            }
            let place = (mapped as *mut u8).add(size_of::<Memory>() + claimed as usize * loop_bytes);
            let shared = place as *mut Shared;
            (*shared).thread = gettid() as u64;
            (*shared).process = std::process::id() as u64;
            let kept = name.len().min(NAME_BYTES - 1);
            (&mut (*shared).name)[..kept].copy_from_slice(&name.as_bytes()[..kept]);
            self.shared = shared;
            self.rows = shared.add(1) as *mut Row;
            self.mask = memory.rows - 1;
            memory.claimed.store(claimed + 1, Ordering::Release);
        }
    }

    /// The step of release `k` begins.
    #[inline]
    pub fn begin(&mut self, k: u64) {
        self.begin_at(k, 0);
    }

    /// The same, of a release whose instant is known, by CLOCK_MONOTONIC.
    #[inline]
    pub fn begin_at(&mut self, k: u64, release_ns: i64) {
        if self.shared.is_null() {
            return;
        }
        unsafe {
            let shared = &*self.shared;
            if !self.open.is_null() {
                count(&shared.irregular);
            }
            let written = shared.written.load(Ordering::Relaxed);
            self.open = self.rows.add((written & self.mask) as usize);
            if written - self.read_seen > self.mask {
                self.read_seen = shared.read.load(Ordering::Acquire);
                if written - self.read_seen > self.mask {
                    self.open = &mut *self.no_room;
                }
            }
            shared.k.store(k, Ordering::Relaxed);
            shared.open.store(1, Ordering::Release);
            (*self.open).k = k;
            (*self.open).release_ns = release_ns;
            (*self.open).begin_ns = now_ns();
        }
    }

    /// The step of release `k` has ended.
    #[inline]
    pub fn end(&mut self, k: u64) {
        if self.shared.is_null() {
            return;
        }
        let end_ns = now_ns();
        unsafe {
            let shared = &*self.shared;
            let row = std::mem::replace(&mut self.open, ptr::null_mut());
            if row.is_null() || (*row).k != k {
                count(&shared.irregular);
            } else if ptr::eq(row, &*self.no_room) {
                count(&shared.dropped);
            } else {
                (*row).end_ns = end_ns;
                let written = shared.written.load(Ordering::Relaxed);
                shared.written.store(written + 1, Ordering::Release);
            }
            shared.open.store(0, Ordering::Release);
        }
    }
}

fn count(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}
