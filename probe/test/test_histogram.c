#include "record/histogram.h"
#include "test/check.h"

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static struct histogram_bin bin_that_holds(const struct histogram *histogram, int64_t value)
{
    struct histogram_bin bin;
    for (size_t at = 0; histogram_next(histogram, &at, &bin);) {
        if (bin.low <= value && value <= bin.high) {
            return bin;
        }
    }
    return (struct histogram_bin){0};
}

static size_t blocks_of(const struct histogram *histogram)
{
    size_t count = 0;
    for (size_t i = 0; i < HISTOGRAM_BLOCKS; i++) {
        count += histogram->blocks[i] != NULL ? 1 : 0;
    }
    return count;
}

static void every_64_bit_value_has_a_bin_no_wider_than_a_thousandth(void **state)
{
    (void)state;
    static const int64_t edges[] = {0,    1,          2047,          2048,      2049,          -1,       -2048,
                                    4095, 4611686018427387904 /* 2^62 */, INT64_MAX, INT64_MAX - 1, INT64_MIN, -4097};
    uint64_t random = 42;
    for (int i = 0; i < 400; i++) {
        const int64_t value = i < 13 ? edges[i] : (int64_t)(next_random(&random) >> (i % 60)) * (i % 2 != 0 ? 1 : -1);
        struct histogram histogram;
        assert_int_equal(histogram_create(&histogram), OS_OK);
        histogram_add(&histogram, value);
        const struct histogram_bin bin = bin_that_holds(&histogram, value);
        assert_int_equal(bin.count, 1);
        const uint64_t width = (uint64_t)bin.high - (uint64_t)bin.low;
        const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
        assert_true(width <= size / 1024);
        assert_int_equal(histogram.minimum, value);
        assert_int_equal(histogram.maximum, value);
        histogram_destroy(&histogram);
    }
}

static void bins_come_in_ascending_order_without_overlap_and_keep_the_total(void **state)
{
    (void)state;
    struct histogram histogram;
    assert_int_equal(histogram_create(&histogram), OS_OK);
    uint64_t random = 7;
    for (int i = 0; i < 20000; i++) {
        histogram_add(&histogram, (int64_t)(next_random(&random) >> (i % 63 + 1)) - 100000);
    }
    struct histogram_bin bin;
    uint64_t total = 0;
    int64_t above = INT64_MIN;
    for (size_t at = 0; histogram_next(&histogram, &at, &bin); above = bin.high) {
        assert_true(bin.low <= bin.high);
        assert_true(total == 0 || bin.low > above);
        total += bin.count;
    }
    assert_int_equal(total, 20000);
    assert_int_equal(histogram.total, 20000);
    histogram_destroy(&histogram);
}

static void a_quantile_is_the_order_statistic_or_at_most_a_thousandth_above(void **state)
{
    (void)state;
    struct histogram histogram;
    assert_int_equal(histogram_create(&histogram), OS_OK);
    for (int64_t value = 1; value <= 1000; value++) {
        histogram_add(&histogram, value);
    }
    assert_int_equal(histogram_quantile(&histogram, 1, 2), 500);
    assert_int_equal(histogram_quantile(&histogram, 99, 100), 990);
    assert_int_equal(histogram_quantile(&histogram, 999, 1000), 999);
    assert_int_equal(histogram_quantile(&histogram, 99999, 100000), 1000);
    for (int64_t value = 1001; value <= 100000; value++) {
        histogram_add(&histogram, value);
    }
    const int64_t quantile = histogram_quantile(&histogram, 99, 100);
    assert_in_range(quantile, 99000, 99000 + 99000 / 1024);
    assert_int_equal(histogram_quantile(&histogram, 1, 1), 100000);
    histogram_destroy(&histogram);
}

static void an_empty_histogram_has_no_bins(void **state)
{
    (void)state;
    struct histogram histogram;
    struct histogram_bin bin;
    size_t at = 0;
    assert_int_equal(histogram_create(&histogram), OS_OK);
    assert_false(histogram_next(&histogram, &at, &bin));
    assert_int_equal(histogram_quantile(&histogram, 1, 2), 0);
    histogram_destroy(&histogram);
}

static void memory_is_taken_where_values_come(void **state)
{
    (void)state;
    struct histogram histogram;
    assert_int_equal(histogram_create(&histogram), OS_OK);
    assert_true(histogram_bytes() < 200000);
    for (int64_t value = 0; value < (int64_t)1 << 27; value += 1 + value / 3) {
        assert_int_equal(histogram_add(&histogram, value), OS_OK);
    }
    const size_t usual = blocks_of(&histogram);
    assert_int_equal(usual * 1024 * sizeof(uint64_t), histogram_bytes());
    static const int64_t others[] = {(int64_t)1 << 28, INT64_MAX, -1, INT64_MIN};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(histogram_add(&histogram, others[i]), OS_OK);
        assert_int_equal(blocks_of(&histogram), usual + i + 1);
    }
    histogram_clear(&histogram);
    struct histogram_bin bin;
    size_t at = 0;
    assert_false(histogram_next(&histogram, &at, &bin));
    histogram_destroy(&histogram);
}

TESTS(cmocka_unit_test(every_64_bit_value_has_a_bin_no_wider_than_a_thousandth),
      cmocka_unit_test(bins_come_in_ascending_order_without_overlap_and_keep_the_total),
      cmocka_unit_test(a_quantile_is_the_order_statistic_or_at_most_a_thousandth_above),
      cmocka_unit_test(an_empty_histogram_has_no_bins),
      cmocka_unit_test(memory_is_taken_where_values_come))
