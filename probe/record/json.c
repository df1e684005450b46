#include "record/json.h"

#include "format.h"

#include <stdlib.h>
#include <string.h>

void json_begin(struct json *json)
{
    memset(json, 0, sizeof *json);
}

void json_free(struct json *json)
{
    free(json->text);
    json_begin(json);
}

static void append(struct json *json, const char *text, size_t length)
{
    if (json->length + length + 1 > json->capacity && !json->out_of_memory) {
        const size_t capacity = 2 * (json->length + length + 1);
        char *const grown = malloc(capacity);
        if (grown == NULL) {
            json->out_of_memory = true;
        } else {
            memcpy(grown, json->text != NULL ? json->text : "", json->length);
            free(json->text);
            json->text = grown;
            json->capacity = capacity;
        }
    }
    if (!json->out_of_memory) {
        memcpy(json->text + json->length, text, length);
        json->length += length;
        json->text[json->length] = '\0';
    }
}

static void append_quoted(struct json *json, const char *text)
{
    static const char hex[][2] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f"};
    append(json, "\"", 1);
    for (; *text != '\0'; text++) {
        char escaped[8];
        const unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\') {
            append(json, "\\", 1);
            append(json, text, 1);
        } else if (byte < 0x20) {
            append(json, escaped, format_text(escaped, sizeof escaped, "\\u00%u%s", byte / 16U, hex[byte % 16U]));
        } else {
            append(json, text, 1);
        }
    }
    append(json, "\"", 1);
}

static void begin_value(struct json *json, const char *key)
{
    if (json->needs_comma) {
        append(json, ",", 1);
    }
    if (key != NULL) {
        append_quoted(json, key);
        append(json, ":", 1);
    }
    json->needs_comma = true;
}

static void open_with(struct json *json, const char *key, const char *bracket)
{
    begin_value(json, key);
    append(json, bracket, 1);
    json->needs_comma = false;
}

static void close_with(struct json *json, const char *bracket)
{
    append(json, bracket, 1);
    json->needs_comma = true;
}

void json_open_object(struct json *json, const char *key)
{
    open_with(json, key, "{");
}

void json_close_object(struct json *json)
{
    close_with(json, "}");
}

void json_open_array(struct json *json, const char *key)
{
    open_with(json, key, "[");
}

void json_close_array(struct json *json)
{
    close_with(json, "]");
}

void json_text(struct json *json, const char *key, const char *value)
{
    begin_value(json, key);
    append_quoted(json, value);
}

void json_integer(struct json *json, const char *key, int64_t value)
{
    char digits[24];
    begin_value(json, key);
    append(json, digits, format_text(digits, sizeof digits, "%lld", (long long)value));
}

void json_integer_or_null(struct json *json, const char *key, int64_t value)
{
    if (value == INT64_MIN) {
        json_null(json, key);
    } else {
        json_integer(json, key, value);
    }
}

void json_unsigned(struct json *json, const char *key, uint64_t value)
{
    char digits[24];
    begin_value(json, key);
    append(json, digits, format_text(digits, sizeof digits, "%llu", (unsigned long long)value));
}

void json_boolean(struct json *json, const char *key, bool value)
{
    begin_value(json, key);
    append(json, value ? "true" : "false", value ? 4 : 5);
}

void json_null(struct json *json, const char *key)
{
    begin_value(json, key);
    append(json, "null", 4);
}

void json_pad(struct json *json, size_t bytes)
{
    while (json->length % bytes != 0 && !json->out_of_memory) {
        append(json, " ", 1);
    }
}
