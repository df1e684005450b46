/* cmocka wants these before it. */
#ifndef TAUTO_TEST_CHECK_H
#define TAUTO_TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TESTS(...)                                                                                                    \
    int main(void)                                                                                                    \
    {                                                                                                                 \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                                              \
        return cmocka_run_group_tests(tests, NULL, NULL);                                                             \
    }

#endif
