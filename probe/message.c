#include "message.h"

#include "format.h"
#include "os/os.h"

#include <stdarg.h>
#include <string.h>

enum { LONGEST_MESSAGE = 2048, LONGEST_CODE = 64 };

static enum os_status printed = OS_OK; /* the last reason why something did not go out */

static enum os_status write_between(struct os_output output, const char *before, const char *body, const char *after)
{
    char whole[LONGEST_MESSAGE + LONGEST_CODE];
    const size_t length = format_text(whole, sizeof whole, "%s%s%s", before, body, after);
    return os_output_write(output, whole, length < sizeof whole ? length : sizeof whole - 1);
}

static enum os_status say(struct os_output output, const char *before, const char *format, va_list arguments,
                          const char *after)
{
    char body[LONGEST_MESSAGE];
    format_arguments(body, sizeof body, format, arguments);
    return write_between(output, before, body, after);
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
    (void)write_between(os_output_error(), "tauto-probe: ", text, "\n");
    if (advice != NULL) {
        (void)write_between(os_output_error(), "tauto-probe: advice: ", advice + 1, "\n");
    }
    return (int)code;
}

void warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)say(os_output_error(), "tauto-probe: warning: ", format, arguments, "\n");
    va_end(arguments);
}

void warn_of(const char *code, const char *format, ...)
{
    char before[LONGEST_CODE];
    format_text(before, sizeof before, "tauto-probe: warning [%s]: ", code);
    va_list arguments;
    va_start(arguments, format);
    (void)say(os_output_error(), before, format, arguments, "\n");
    va_end(arguments);
}

bool print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const enum os_status status = say(os_output_standard(), "", format, arguments, "");
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
    (void)say(os_output_error(), "", format, arguments, "");
    va_end(arguments);
}
