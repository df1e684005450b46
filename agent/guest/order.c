#include "guest/order.h"

#include <stdlib.h>
#include <string.h>

/* Of each program, unless the lab gives it another of the same name. */
static char *const usual[] = {
    (char[]){"PATH=/bin:/sbin:/usr/bin:/usr/sbin"},
    (char[]){"HOME=/root"},
    (char[]){"TMPDIR=/tmp"},
};
enum { USUAL = sizeof usual / sizeof usual[0] };

static bool has_same_name(const char *one, const char *other)
{
    const size_t length = strcspn(one, "=") + 1;
    return strncmp(one, other, length) == 0;
}

static bool is_among(const char *variable, char *const *variables, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (has_same_name(variable, variables[i])) {
            return true;
        }
    }
    return false;
}

/* Cuts the payload into its words: argv, then the environment. */
static bool cut(struct order *order, uint32_t argc, size_t words)
{
    order->argv = calloc((size_t)argc + 1, sizeof *order->argv);
    order->environment = calloc(words - argc + USUAL + 1, sizeof *order->environment);
    if (order->argv == NULL || order->environment == NULL) {
        return fault("no memory for the %zu words of a program.", words);
    }
    size_t variables = 0;
    char *word = order->payload.data + sizeof argc;
    for (size_t i = 0; i < words; i++) {
        if (i < argc) {
            order->argv[i] = word;
        } else if (strchr(word, '=') != NULL) {
            order->environment[variables++] = word;
        } else {
            return fault("%s=VALUE is expected in a program's environment, not the name alone.", word);
        }
        word += strlen(word) + 1;
    }
    const size_t given = variables;
    for (size_t i = 0; i < USUAL; i++) {
        if (!is_among(usual[i], order->environment, given)) {
            order->environment[variables++] = usual[i];
        }
    }
    return true;
}

static size_t count_words(const char *text, size_t length)
{
    size_t words = 0;
    for (size_t i = 0; i < length; i++) {
        words += text[i] == '\0';
    }
    return words;
}

bool order_read(struct order *order, const struct box *box, const struct box_command *command)
{
    *order = (struct order){0};
    uint32_t argc = 0;
    if (!box_payload(box, command, &order->payload)) {
        return false;
    }
    const struct text *const payload = &order->payload;
    size_t words = 0;
    if (payload->length > sizeof argc && payload->data[payload->length - 1] == '\0') {
        memcpy(&argc, payload->data, sizeof argc);
        words = count_words(payload->data + sizeof argc, payload->length - sizeof argc);
    }
    if (argc == 0 || argc > words) {
        order_free(order);
        return fault("a program without its words.");
    }
    if (!cut(order, argc, words)) {
        order_free(order);
        return false;
    }
    return true;
}

void order_free(struct order *order)
{
    text_free(&order->payload);
    free(order->argv);
    free(order->environment);
}
