#include "quantity.h"

#include <string.h>

struct unit {
    const char *name;
    int64_t size; /* in the smallest one */
};

#define NS_PER_S 1000000000LL
#define MICRO_SIGN "\xc2\xb5"
#define GREEK_MU "\xce\xbc"
#define NO_BREAK_SPACE "\xc2\xa0"

/* The same as in src/tautochrone/base/units.py: test/quantities.txt has what both must read. */
static const struct unit times[] = {
    {"ns", 1},        {"us", 1000},     {MICRO_SIGN "s", 1000}, {GREEK_MU "s", 1000},  {"ms", 1000000},
    {"s", NS_PER_S},  {"min", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S}, {"d", 86400 * NS_PER_S}, {NULL, 0},
};
/* In 1 nHz. No MHz in other letters: mHz is a thousandth of a Hz. */
static const struct unit rates[] = {
    {"Hz", NS_PER_S},           {"hz", NS_PER_S},           {"kHz", 1000 * NS_PER_S},
    {"khz", 1000 * NS_PER_S},   {"KHz", 1000 * NS_PER_S},   {"MHz", 1000000 * NS_PER_S}, {NULL, 0},
};
static const struct unit sizes[] = {
    {"", 1},         {"B", 1},          {"kB", 1000},         {"KB", 1000},          {"MB", 1000000},
    {"KiB", 1024},   {"MiB", 1048576},  {"GB", 1000000000},   {"GiB", 1073741824},   {NULL, 0},
};
static const struct unit no_unit[] = {{"", 1}, {NULL, 0}};
static const struct unit shares[] = {{"%", SHARE_WHOLE / 100}, {NULL, 0}};

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* Blanks at `*at`, which moves behind them. */
static void skip_blanks(const char **at, const char *end)
{
    const size_t no_break = sizeof NO_BREAK_SPACE - 1;
    for (size_t length = 1; *at != end && length != 0; *at += length) {
        length = **at == ' ' || **at == '\t' ? 1
                 : (size_t)(end - *at) >= no_break && memcmp(*at, NO_BREAK_SPACE, no_break) == 0 ? no_break
                                                                                                : 0;
    }
}

bool quantity_digits(const char **at, const char *end, const char *separators, int64_t *value)
{
    const char *const begin = *at;
    *value = 0;
    for (; *at != end; (*at)++) {
        if (is_digit(**at)) {
            const int64_t digit = **at - '0';
            if (*value > (INT64_MAX - digit) / 10) {
                return false;
            }
            *value = *value * 10 + digit;
        } else if (*at == begin || **at == '\0' || strchr(separators, **at) == NULL || end - *at < 2 ||
                   !is_digit((*at)[1])) {
            break;
        }
    }
    return *at != begin;
}

/* The unit at `at`, with nothing but blanks behind it; NULL when none of these stands there. */
static const struct unit *read_unit(const char *at, const char *end, const struct unit *units)
{
    for (; units->name != NULL; units++) {
        const size_t length = strlen(units->name);
        if ((size_t)(end - at) >= length && memcmp(at, units->name, length) == 0) {
            const char *behind = at + length;
            skip_blanks(&behind, end);
            if (behind == end) {
                return units;
            }
        }
    }
    return NULL;
}

/* A number with a unit, exact: false also for a fraction of the smallest unit. The fraction is taken from its last
 * digit on, for then each step is whole if the result is, and none can overflow. */
static bool read_with_unit(const char *text, size_t length, const struct unit *units, int64_t *read)
{
    const char *const end = text + length;
    const char *at = text;
    int64_t whole = 0;
    skip_blanks(&at, end);
    if (!quantity_digits(&at, end, "", &whole)) {
        return false;
    }
    const char *const point = at;
    if (at != end && *at == '.') {
        for (at++; at != end && is_digit(*at); at++) {
        }
        if (at == point + 1) {
            return false;
        }
    }
    const char *const fraction_end = at;
    skip_blanks(&at, end);
    const struct unit *const unit = read_unit(at, end, units);
    if (unit == NULL || whole > INT64_MAX / unit->size) {
        return false;
    }
    int64_t part = 0;
    for (const char *digit = fraction_end; digit > point + 1; digit--) {
        part += (digit[-1] - '0') * unit->size;
        if (part % 10 != 0) {
            return false;
        }
        part /= 10;
    }
    if (part > INT64_MAX - whole * unit->size) {
        return false;
    }
    *read = whole * unit->size + part;
    return true;
}

/* No time at all is the same in each unit. */
static bool is_zero(const char *text, size_t length)
{
    int64_t number = 0;
    return read_with_unit(text, length, no_unit, &number) && number == 0;
}

bool duration_read(const char *text, size_t length, int64_t *duration_ns)
{
    if (is_zero(text, length)) {
        *duration_ns = 0;
        return true;
    }
    return read_with_unit(text, length, times, duration_ns);
}

bool period_read(const char *text, size_t length, int64_t *period_ns)
{
    int64_t rate_nhz = 0;
    if (duration_read(text, length, period_ns)) {
        return true;
    }
    if (!read_with_unit(text, length, rates, &rate_nhz) || rate_nhz == 0 || rate_nhz > NS_PER_S * NS_PER_S) {
        return false;
    }
    *period_ns = (NS_PER_S * NS_PER_S + rate_nhz / 2) / rate_nhz;
    return true;
}

bool rate_read(const char *text, size_t length, int64_t *rate_hz)
{
    int64_t period_ns = 0;
    int64_t rate_nhz = 0;
    if (read_with_unit(text, length, rates, &rate_nhz)) {
        *rate_hz = rate_nhz / NS_PER_S;
        return rate_nhz > 0 && rate_nhz <= NS_PER_S * NS_PER_S && rate_nhz % NS_PER_S == 0;
    }
    if (!duration_read(text, length, &period_ns) || period_ns == 0) {
        return false;
    }
    *rate_hz = NS_PER_S / period_ns;
    return NS_PER_S % period_ns == 0;
}

bool size_read(const char *text, size_t length, int64_t *bytes)
{
    return read_with_unit(text, length, sizes, bytes);
}

/* "1000000", "1,000,000" or "1e6" at `*at`, which moves behind it. */
static bool read_amount(const char **at, const char *end, int64_t *amount)
{
    int64_t power = 0;
    if (!quantity_digits(at, end, ",_", amount)) {
        return false;
    }
    if (*at != end && **at == 'e') {
        (*at)++;
        if (!quantity_digits(at, end, "", &power)) {
            return false;
        }
    }
    for (; power > 0 && *amount > 0; power--) {
        if (*amount > INT64_MAX / 10) {
            return false;
        }
        *amount *= 10;
    }
    return true;
}

bool share_read(const char *text, size_t length, int64_t *share)
{
    const char *const end = text + length;
    const char *at = text;
    int64_t some = 0;
    int64_t all = 0;
    if (read_with_unit(text, length, shares, share)) {
        return *share <= SHARE_WHOLE;
    }
    skip_blanks(&at, end);
    if (!read_amount(&at, end, &some)) {
        return false;
    }
    const char *const behind = at;
    skip_blanks(&at, end);
    if (at == end && some == 0) {
        *share = 0;
        return true;
    }
    if (at == behind || end - at < 3 || memcmp(at, "in", 2) != 0) {
        return false;
    }
    at += 2;
    const char *const word_end = at;
    skip_blanks(&at, end);
    if (at == word_end || !read_amount(&at, end, &all) || some > all || all == 0) {
        return false;
    }
    skip_blanks(&at, end);
    *share = (int64_t)((double)some / (double)all * (double)SHARE_WHOLE + 0.5);
    return at == end && (*share > 0 || some == 0);
}
