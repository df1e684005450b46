/*
 * Lengths of time, rates, sizes and shares as people write them. The lab has the same grammar (units.py), and
 * test/quantities.txt is what both must read.
 *
 * Each reads the first `length` characters: a number and its unit. The number is digits, at most one point with digits
 * behind it: no sign, no exponent. Blanks may stand around both. What is read is exact, in integers: false also for
 * what is finer than the smallest unit or does not fit.
 */
#ifndef TAUTO_QUANTITY_H
#define TAUTO_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ns, us, ms, s, min, h, d. */
bool duration_read(const char *text, size_t length, int64_t *duration_ns);
/* A duration, or a rate up to 1 GHz, to the nearest nanosecond. */
bool period_read(const char *text, size_t length, int64_t *period_ns);
/* Hz, kHz, MHz, or a period: above 0, and a whole number of Hz. */
bool rate_read(const char *text, size_t length, int64_t *rate_hz);
/* B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024), or nothing: bytes. */
bool size_read(const char *text, size_t length, int64_t *bytes);
/* "70%", "1 in 1e6", "3 in 1,000" or 0: so much of SHARE_WHOLE. */
#define SHARE_WHOLE 1000000000000LL
bool share_read(const char *text, size_t length, int64_t *share);

/* Digits at `*at`, which moves behind them; between two of them may stand one of `separators`. False when there are none
 * or too many. */
bool quantity_digits(const char **at, const char *end, const char *separators, int64_t *value);

#endif
