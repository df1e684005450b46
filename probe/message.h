/* What the probe says to a person, and the exit codes that scripts read. */
#ifndef TAUTO_MESSAGE_H
#define TAUTO_MESSAGE_H

#include <stdbool.h>

enum exit_code { EXIT_MEASURED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NOT_PERMITTED = 3 };

/* Whose messages these are: tauto-probe's, where it is not told. `program` stays. */
void speak_as(const char *program);

/* A refusal on standard error: what is wrong, and behind a line break in `format` what to do about it.
 *
 *     tauto-probe: --cpus 9: this CPU is offline; online: 0-1.
 *     tauto-probe: advice: Choose from those.
 *
 * What is wrong with an option begins with the option. Programs read both: docs/stream.md. Returns `code`, so that a
 * refusal is one statement. */
__attribute__((format(printf, 2, 3))) int refuse(enum exit_code code, const char *format, ...);
__attribute__((format(printf, 1, 2))) void warn(const char *format, ...);

/* A warning that programs know by its code: "tauto-probe: warning [code]: " and the text. */
__attribute__((format(printf, 2, 3))) void warn_of(const char *code, const char *format, ...);
#define WARNING_OF_DROPPED "dropped" /* says why samples were dropped, where no buffer was full */

/* As it stands, on standard output or standard error; format.h names the conversions. False: it did not go out. */
__attribute__((format(printf, 1, 2))) bool print(const char *format, ...);
__attribute__((format(printf, 1, 2))) void print_error(const char *format, ...);

/* How a program ends that would end with `code`: with EXIT_FAILED, and said so, if what it printed did not go out. */
int after_printing(int code);

#endif
