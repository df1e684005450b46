//! A loop of 1 kHz that `tauto watch` measures:
//!
//!     tauto watch --header rust > tautochrone_loop.rs
//!     rustc -O controller.rs
//!     tauto watch --rate 1kHz -- ./controller
mod tautochrone_loop;

use std::time::Duration;

const PERIOD_NS: i64 = 1_000_000;

fn main() {
    let cycles = std::env::args().nth(1).map_or(u64::MAX, |told| told.parse().expect("a number of cycles"));
    let mut measured = tautochrone_loop::Loop::new("control");
    let (mut position, mut integral) = (0.0_f64, 0.0_f64);
    let mut release_ns = tautochrone_loop::now_ns();
    for k in 0..cycles {
        release_ns += PERIOD_NS;
        let left_ns = release_ns - tautochrone_loop::now_ns();
        if left_ns > 0 {
            std::thread::sleep(Duration::from_nanos(left_ns as u64));
        }
        measured.begin_at(k, release_ns);
        integral += 0.001 * (1.0 - position);
        position += 0.001 * (2.0 * (1.0 - position) + 5.0 * integral);
        measured.end(k);
    }
    println!("position {position:.3}");
}
