#include "message.h"

#include "format.h"
#include "os/os.h"

#include <stdarg.h>
#include <string.h>

enum { LONGEST_MESSAGE = 2048, LONGEST_CODE = 64, LONGEST_BEFORE = 128 };

static const char *speaker = "tauto-probe";
static enum os_status printed = OS_OK; /* the last reason why something did not go out */

void speak_as(const char *program)
{
    speaker = program;
}

static enum os_status write_out(struct os_output output, const char *text, size_t length, size_t room)
{
    return os_output_write(output, text, length < room ? length : room - 1);
}

static enum os_status say(struct os_output output, const char *format, va_list arguments)
{
    char text[LONGEST_MESSAGE];
    return write_out(output, text, format_arguments(text, sizeof text, format, arguments), sizeof text);
}

/* A line on standard error in one piece: who speaks, what kind of line it is, and the text. */
static void tell(const char *kind, const char *text)
{
    char line[LONGEST_MESSAGE + LONGEST_BEFORE];
    (void)write_out(os_output_error(), line, format_text(line, sizeof line, "%s: %s%s\n", speaker, kind, text),
                    sizeof line);
}

int refuse(enum exit_code code, const char *format, ...)
{
    char text[LONGEST_MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    format_arguments(text, sizeof text, format, arguments);
    va_end(arguments);
    char *const advice = strchr(text, '\n');
    if (advice != NULL) {
        *advice = '\0';
    }
    tell("", text);
    if (advice != NULL) {
        tell("advice: ", advice + 1);
    }
    return (int)code;
}

void warn(const char *format, ...)
{
    char text[LONGEST_MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    format_arguments(text, sizeof text, format, arguments);
    va_end(arguments);
    tell("warning: ", text);
}

void warn_of(const char *code, const char *format, ...)
{
    char kind[LONGEST_CODE];
    char text[LONGEST_MESSAGE];
    format_text(kind, sizeof kind, "warning [%s]: ", code);
    va_list arguments;
    va_start(arguments, format);
    format_arguments(text, sizeof text, format, arguments);
    va_end(arguments);
    tell(kind, text);
}

bool print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const enum os_status status = say(os_output_standard(), format, arguments);
    va_end(arguments);
    printed = status == OS_OK ? printed : status;
    return status == OS_OK;
}

int after_printing(int code)
{
    const bool is_told = code != EXIT_MEASURED && code != EXIT_USAGE;
    return printed == OS_OK || is_told
               ? code
               : refuse(EXIT_FAILED, "the output can't be written: %s.", os_status_text(printed));
}

void print_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)say(os_output_error(), format, arguments);
    va_end(arguments);
}
