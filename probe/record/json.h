/* JSON text in growing memory: commas and quotes are placed here, never by the caller. Not for measuring threads. */
#ifndef TAUTO_JSON_H
#define TAUTO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    char *text; /* ends with NUL */
    size_t length;
    size_t capacity;
    bool needs_comma;
    bool out_of_memory; /* sticky: the text is then not complete */
};

void json_begin(struct json *json);
void json_free(struct json *json);
/* Begins with memory for a text of so many bytes, its NUL included; false where there is none. */
bool json_reserve(struct json *json, size_t bytes);
/* Begins the next text in the memory of the last one. */
void json_restart(struct json *json);

/* Is it UTF-8 to its end? */
bool json_is_text(const char *text);

/* `key` is NULL inside an array. Whatever bytes a text has, JSON and UTF-8 come out: a byte that begins no character
 * becomes U+FFFD. */
void json_open_object(struct json *json, const char *key);
void json_close_object(struct json *json);
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);
void json_text(struct json *json, const char *key, const char *value);
/* NULL becomes null. */
void json_text_or_null(struct json *json, const char *key, const char *value);
void json_integer(struct json *json, const char *key, int64_t value);
/* A value that the system could not tell (INT64_MIN) becomes null. */
void json_integer_or_null(struct json *json, const char *key, int64_t value);
void json_unsigned(struct json *json, const char *key, uint64_t value);
void json_boolean(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);
/* Spaces after the end, up to a multiple of `bytes`. */
void json_pad(struct json *json, size_t bytes);

#endif
