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

static struct histogram empty_histogram(void)
{
    struct histogram histogram;
    void *memory = NULL;
    assert_int_equal(os_memory_allocate(&memory, histogram_bytes()), OS_OK);
    histogram_begin(&histogram, memory);
    return histogram;
}

/* With `sub_bits` of them. */
static void every_value_has_a_bin(unsigned sub_bits)
{
    static const int64_t a_minute = 60000000000;
    static const int64_t edges[] = {0,    1,   511,       512,           513,       -1,        -512, -513, 1023,
                                    4095, 4611686018427387904 /* 2^62 */, INT64_MAX, INT64_MIN, -4097};
    enum { EDGES = sizeof edges / sizeof edges[0] };
    uint64_t random = 42;
    struct histogram histogram = empty_histogram();
    for (int i = 0; i < 400; i++) {
        const int64_t value =
            i < EDGES ? edges[i] : (int64_t)(next_random(&random) >> (i % 60)) * (i % 2 != 0 ? 1 : -1);
        histogram_begin(&histogram, histogram.bins);
        histogram.sub_bits = sub_bits;
        histogram_add(&histogram, value);
        const struct histogram_bin bin = bin_that_holds(&histogram, value);
        assert_int_equal(bin.count, 1);
        const uint64_t width = (uint64_t)bin.high - (uint64_t)bin.low;
        const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
        assert_true(width <= size >> sub_bits || size > (uint64_t)a_minute);
        assert_int_equal(histogram.minimum, value);
        assert_int_equal(histogram.maximum, value);
        histogram_clear(&histogram);
    }
    os_memory_free(histogram.bins, histogram_bytes());
}

static void every_value_has_a_bin_and_up_to_a_minute_none_is_wider_than_a_part_in_256(void **state)
{
    (void)state;
    every_value_has_a_bin(8);
}

static void a_coarser_histogram_has_the_same_with_wider_bins(void **state)
{
    (void)state;
    every_value_has_a_bin(6);
    every_value_has_a_bin(3);
}

static void bins_come_in_ascending_order_without_overlap_and_keep_the_total(void **state)
{
    (void)state;
    struct histogram histogram = empty_histogram();
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
    os_memory_free(histogram.bins, histogram_bytes());
}

static void a_quantile_is_the_order_statistic_or_at_most_a_part_in_256_above(void **state)
{
    (void)state;
    struct histogram histogram = empty_histogram();
    for (int64_t value = 1; value <= 500; value++) {
        histogram_add(&histogram, value);
    }
    assert_int_equal(histogram_quantile(&histogram, 1, 2), 250);
    assert_int_equal(histogram_quantile(&histogram, 99, 100), 495);
    assert_int_equal(histogram_quantile(&histogram, 999, 1000), 500);
    assert_int_equal(histogram_quantile(&histogram, 99999, 100000), 500);
    for (int64_t value = 501; value <= 100000; value++) {
        histogram_add(&histogram, value);
    }
    const int64_t quantile = histogram_quantile(&histogram, 99, 100);
    assert_in_range(quantile, 99000, 99000 + 99000 / 256);
    assert_int_equal(histogram_quantile(&histogram, 1, 1), 100000);
    os_memory_free(histogram.bins, histogram_bytes());
}

static void an_empty_histogram_has_no_bins(void **state)
{
    (void)state;
    struct histogram histogram = empty_histogram();
    struct histogram_bin bin;
    size_t at = 0;
    assert_false(histogram_next(&histogram, &at, &bin));
    assert_int_equal(histogram_quantile(&histogram, 1, 2), 0);
    os_memory_free(histogram.bins, histogram_bytes());
}

static bool is_zeroed(const struct histogram *histogram)
{
    for (size_t i = 0; i < histogram_bytes() / sizeof *histogram->bins; i++) {
        if (histogram->bins[i] != 0) {
            return false;
        }
    }
    return true;
}

static void what_is_emptied_is_empty_everywhere_and_takes_values_again(void **state)
{
    (void)state;
    static const int64_t rounds[][3] = {{700, 701, 70000}, {-5, 0, 5}, {INT64_MIN, 1, INT64_MAX}, {3, 3, 3}};
    struct histogram histogram = empty_histogram();
    for (size_t round = 0; round < sizeof rounds / sizeof rounds[0]; round++) {
        for (size_t i = 0; i < 3; i++) {
            histogram_add(&histogram, rounds[round][i]);
        }
        struct histogram_bin bin;
        uint64_t total = 0;
        for (size_t at = 0; histogram_next(&histogram, &at, &bin);) {
            total += bin.count;
        }
        assert_int_equal(total, 3);
        histogram_clear(&histogram);
        assert_true(is_zeroed(&histogram));
        assert_int_equal(histogram.total, 0);
    }
    os_memory_free(histogram.bins, histogram_bytes());
}

static void whoever_reads_or_empties_it_touches_only_what_holds_something(void **state)
{
    (void)state;
    struct histogram histogram = empty_histogram();
    for (int64_t value = 10; value <= 20; value++) {
        histogram_add(&histogram, value);
    }
    assert_int_equal(histogram.highest - histogram.lowest, 10);
    histogram.bins[histogram.highest + 1] = 99; /* as nobody would: it is not looked at */
    struct histogram_bin bin;
    size_t bins = 0;
    for (size_t at = 0; histogram_next(&histogram, &at, &bin);) {
        assert_int_equal(bin.count, 1);
        bins++;
    }
    assert_int_equal(bins, 11);
    const uint64_t *const beyond = &histogram.bins[histogram.highest + 1];
    histogram_clear(&histogram);
    assert_int_equal(*beyond, 99);
    os_memory_free(histogram.bins, histogram_bytes());
}

TESTS(cmocka_unit_test(every_value_has_a_bin_and_up_to_a_minute_none_is_wider_than_a_part_in_256),
      cmocka_unit_test(a_coarser_histogram_has_the_same_with_wider_bins),
      cmocka_unit_test(bins_come_in_ascending_order_without_overlap_and_keep_the_total),
      cmocka_unit_test(a_quantile_is_the_order_statistic_or_at_most_a_part_in_256_above),
      cmocka_unit_test(an_empty_histogram_has_no_bins),
      cmocka_unit_test(what_is_emptied_is_empty_everywhere_and_takes_values_again),
      cmocka_unit_test(whoever_reads_or_empties_it_touches_only_what_holds_something))
