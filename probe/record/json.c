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

void json_restart(struct json *json)
{
    json->length = 0;
    json->needs_comma = false;
    json->out_of_memory = false;
}

bool json_reserve(struct json *json, size_t bytes)
{
    json_begin(json);
    json->text = malloc(bytes);
    json->capacity = json->text != NULL ? bytes : 0;
    return json->text != NULL;
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

/* Of the character that begins here; 0 at the end, and where none begins. Table 3-7 of the Unicode standard. */
static size_t character_bytes(const char *text)
{
    const unsigned char *const byte = (const unsigned char *)text;
    if (byte[0] < 0x80) {
        return byte[0] != '\0' ? 1 : 0;
    }
    if (byte[0] < 0xc2 || byte[0] > 0xf4) {
        return 0;
    }
    const size_t length = byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
    const unsigned char least = byte[0] == 0xe0 ? 0xa0 : byte[0] == 0xf0 ? 0x90 : 0x80;
    const unsigned char most = byte[0] == 0xed ? 0x9f : byte[0] == 0xf4 ? 0x8f : 0xbf;
    if (byte[1] < least || byte[1] > most) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

bool json_is_text(const char *text)
{
    size_t length;
    while ((length = character_bytes(text)) > 0) {
        text += length;
    }
    return *text == '\0';
}

static void append_quoted(struct json *json, const char *text)
{
    static const char unreadable[] = "\\ufffd";
    static const char hex[][2] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f"};
    append(json, "\"", 1);
    while (*text != '\0') {
        char escaped[8];
        const size_t length = character_bytes(text);
        const unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\') {
            append(json, "\\", 1);
            append(json, text, 1);
        } else if (length == 0) {
            append(json, unreadable, sizeof unreadable - 1);
        } else if (byte < 0x20) {
            append(json, escaped, format_text(escaped, sizeof escaped, "\\u00%u%s", byte / 16U, hex[byte % 16U]));
        } else {
            append(json, text, length);
        }
        text += length > 0 ? length : 1;
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

void json_text_or_null(struct json *json, const char *key, const char *value)
{
    if (value == NULL) {
        json_null(json, key);
    } else {
        json_text(json, key, value);
    }
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
