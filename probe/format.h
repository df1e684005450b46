/*
 * The few conversions that the probe's messages and tables need: %s %d %u with l, ll (and so PRId64), z, a width,
 * the flags - and 0, and %%. The C library's printf brings floating point and wide characters:
 * a twentieth of the whole static probe.
 */
#ifndef TAUTO_FORMAT_H
#define TAUTO_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf: never writes past `bytes`, always ends with NUL (bytes > 0), returns the length that the whole text has. */
size_t format_arguments(char *text, size_t bytes, const char *format, va_list arguments);
__attribute__((format(printf, 3, 4))) size_t format_text(char *text, size_t bytes, const char *format, ...);

#endif
