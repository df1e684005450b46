#include "format.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct output {
    char *text;
    size_t bytes;
    size_t length; /* of the whole text, also of what did not fit */
};

struct conversion {
    bool left;
    bool zeros;
    size_t width;
    int longs; /* how many l; z counts as many as a size has */
    char kind;
};

static void put(struct output *output, char letter, size_t times)
{
    for (; times > 0; times--, output->length++) {
        if (output->length + 1 < output->bytes) {
            output->text[output->length] = letter;
        }
    }
}

static void put_padded(struct output *output, const struct conversion *conversion, const char *sign, const char *text)
{
    const size_t length = strlen(sign) + strlen(text);
    const size_t missing = conversion->width > length ? conversion->width - length : 0;
    if (!conversion->left && !conversion->zeros) {
        put(output, ' ', missing);
    }
    for (; *sign != '\0'; sign++) {
        put(output, *sign, 1);
    }
    if (conversion->zeros) {
        put(output, '0', missing);
    }
    for (; *text != '\0'; text++) {
        put(output, *text, 1);
    }
    if (conversion->left) {
        put(output, ' ', missing);
    }
}

static void put_integer(struct output *output, const struct conversion *conversion, bool negative, uint64_t size)
{
    char digits[24];
    char *at = digits + sizeof digits - 1;
    *at = '\0';
    do {
        *--at = (char)('0' + size % 10);
        size /= 10;
    } while (size != 0);
    put_padded(output, conversion, negative ? "-" : "", at);
}

/* Reads what stands behind '%'; returns where the next text begins. */
static const char *read_conversion(const char *at, struct conversion *conversion)
{
    *conversion = (struct conversion){0};
    for (; *at == '-' || *at == '0'; at++) {
        conversion->left = conversion->left || *at == '-';
        conversion->zeros = conversion->zeros || *at == '0';
    }
    for (; *at >= '0' && *at <= '9'; at++) {
        conversion->width = conversion->width * 10 + (size_t)(*at - '0');
    }
    for (; *at == 'l' || *at == 'z'; at++) {
        conversion->longs += *at == 'z' && sizeof(size_t) > sizeof(long) ? 2 : 1;
    }
    conversion->kind = *at;
    return *at == '\0' ? at : at + 1;
}

size_t format_arguments(char *text, size_t bytes, const char *format, va_list arguments)
{
    struct output output = {.text = text, .bytes = bytes};
    while (*format != '\0') {
        if (*format != '%') {
            put(&output, *format++, 1);
            continue;
        }
        struct conversion conversion;
        format = read_conversion(format + 1, &conversion);
        if (conversion.kind == 's') {
            put_padded(&output, &conversion, "", va_arg(arguments, const char *));
        } else if (conversion.kind == 'd') {
            const int64_t value = conversion.longs == 0   ? va_arg(arguments, int)
                                  : conversion.longs == 1 ? va_arg(arguments, long)
                                                          : va_arg(arguments, long long);
            put_integer(&output, &conversion, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
        } else if (conversion.kind == 'u') {
            const uint64_t value = conversion.longs == 0   ? va_arg(arguments, unsigned int)
                                   : conversion.longs == 1 ? va_arg(arguments, unsigned long)
                                                           : va_arg(arguments, unsigned long long);
            put_integer(&output, &conversion, false, value);
        } else {
            put(&output, conversion.kind, 1);
        }
    }
    if (bytes > 0) {
        text[output.length < bytes ? output.length : bytes - 1] = '\0';
    }
    return output.length;
}

size_t format_text(char *text, size_t bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t length = format_arguments(text, bytes, format, arguments);
    va_end(arguments);
    return length;
}
