/* Floating-point arithmetic: what control loops and filters are made of. Series are our own: no library is measured. */
#include "load/cpu_methods.h"

#include <string.h>

enum { STEPS = 4000, MATRIX = 24, SAMPLES = 512, POINTS = 400, DEPTH = 60, TERMS = 9 };
static const double pi = 3.14159265358979323846;

/* 1.0 … 2.0 */
static double value_of(uint64_t seed)
{
    return 1.0 + (double)(seed & 0xfffffU) / (double)0x100000;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t multiply_add(uint64_t seed)
{
    double a = value_of(seed);
    double b = a * 0.5;
    for (int i = 0; i < STEPS; i++) {
        a = a * 0.999 + b;
        b = b * 0.998 + 0.001 * a;
    }
    return bits_of(a + b);
}

static uint64_t division(uint64_t seed)
{
    const double numerator = value_of(seed);
    double value = 1.0;
    for (int i = 0; i < STEPS; i++) {
        value = 1.0 + (numerator + (double)(i & 3)) / value;
    }
    return bits_of(value);
}

/* Heron's method. */
static double square_root(double value)
{
    double root = value;
    for (int i = 0; i < TERMS; i++) {
        root = 0.5 * (root + value / root);
    }
    return root;
}

static uint64_t square_roots(uint64_t seed)
{
    const double begin = value_of(seed);
    double sum = 0;
    for (int i = 0; i < STEPS / TERMS; i++) {
        sum += square_root(begin + i);
    }
    return bits_of(sum);
}

/* Taylor; good to some 1e-8 between -pi and pi. */
static double sine(double angle)
{
    double term = angle;
    double sum = angle;
    for (int i = 1; i <= TERMS; i++) {
        term *= -angle * angle / (double)((2 * i) * (2 * i + 1));
        sum += term;
    }
    return sum;
}

static uint64_t trigonometry(uint64_t seed)
{
    double sum = 0;
    for (int i = 0; i < STEPS / TERMS; i++) {
        const double angle = pi * ((double)((seed + (uint64_t)i * 37U) % 2001U) / 1000.0 - 1.0);
        sum += sine(angle) * sine(angle + 0.1);
    }
    return bits_of(sum);
}

static uint64_t exponential(uint64_t seed)
{
    double sum = 0;
    for (int i = 0; i < STEPS / TERMS; i++) {
        const double exponent = value_of(seed + (uint64_t)i);
        double term = 1.0;
        for (int k = 1; k <= 2 * TERMS; k++) {
            term *= exponent / k;
            sum += term;
        }
    }
    return bits_of(sum);
}

/* ln x = 2 artanh((x - 1) / (x + 1)) */
static uint64_t logarithm(uint64_t seed)
{
    double sum = 0;
    for (int i = 0; i < STEPS / TERMS; i++) {
        const double value = value_of(seed + (uint64_t)i * 977U);
        const double ratio = (value - 1.0) / (value + 1.0);
        double power = ratio;
        for (int k = 1; k <= 2 * TERMS; k += 2) {
            sum += 2.0 * power / k;
            power *= ratio * ratio;
        }
    }
    return bits_of(sum);
}

static uint64_t matrix_product(uint64_t seed)
{
    double left[MATRIX][MATRIX];
    double right[MATRIX][MATRIX];
    double sum = 0;
    for (uint64_t i = 0; i < MATRIX; i++) {
        for (uint64_t k = 0; k < MATRIX; k++) {
            left[i][k] = value_of(seed + i * MATRIX + k);
            right[i][k] = value_of(seed * 3 + k * MATRIX + i);
        }
    }
    for (int i = 0; i < MATRIX; i++) {
        for (int j = 0; j < MATRIX; j++) {
            double product = 0;
            for (int k = 0; k < MATRIX; k++) {
                product += left[i][k] * right[k][j];
            }
            sum += product * (double)(i - j + 1);
        }
    }
    return bits_of(sum);
}

/* The passes of a fast Fourier transform, with one rotation for each pass. */
static uint64_t butterflies(uint64_t seed)
{
    double real[SAMPLES];
    double imaginary[SAMPLES];
    for (uint64_t i = 0; i < SAMPLES; i++) {
        real[i] = value_of((seed + i) * 2654435761U);
        imaginary[i] = 0;
    }
    for (int half = SAMPLES / 2; half > 0; half /= 2) {
        const double turn = pi / (2.0 * half);
        const double turn_sine = sine(turn);
        const double turn_cosine = sine(pi / 2.0 - turn);
        for (int i = 0; i < SAMPLES; i++) {
            if ((i & half) == 0) {
                const double x = real[i] - real[i + half];
                const double y = imaginary[i] - imaginary[i + half];
                real[i] += real[i + half];
                imaginary[i] += imaginary[i + half];
                real[i + half] = x * turn_cosine - y * turn_sine;
                imaginary[i + half] = x * turn_sine + y * turn_cosine;
            }
        }
    }
    double sum = 0;
    for (int i = 0; i < SAMPLES; i++) {
        sum += real[i] * (i & 1) + imaginary[i];
    }
    return bits_of(sum);
}

static uint64_t mandelbrot(uint64_t seed)
{
    uint64_t steps = 0;
    double sum = 0;
    for (int i = 0; i < POINTS; i++) {
        const double x = -2.0 + value_of(seed + (uint64_t)i * 7919U);
        const double y = -1.0 + value_of(seed * 5 + (uint64_t)i * 104729U) * 0.9;
        double a = 0;
        double b = 0;
        for (int depth = 0; depth < DEPTH && a * a + b * b < 4.0; depth++, steps++) {
            const double next = a * a - b * b + x;
            b = 2 * a * b + y;
            a = next;
        }
        sum += a;
    }
    return bits_of(sum) ^ steps;
}

static uint64_t correlation(uint64_t seed)
{
    double signal[SAMPLES];
    double best = 0;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        signal[i] = value_of(seed ^ (i * 2654435761U)) - 1.5;
    }
    for (int lag = 1; lag <= DEPTH / 4; lag++) {
        double sum = 0;
        for (int i = 0; i + lag < SAMPLES; i++) {
            sum += signal[i] * signal[i + lag];
        }
        best += sum * sum;
    }
    return bits_of(best);
}

static uint64_t single_precision(uint64_t seed)
{
    const float drive = (float)value_of(seed);
    float a = drive;
    float b = a * 0.25F;
    for (int i = 0; i < STEPS; i++) {
        a = a * 0.75F + b;
        b = b / (a + 1.0F) + drive;
    }
    return bits_of((double)(a + b));
}

/* Between whole numbers, single and double precision. */
static uint64_t conversion(uint64_t seed)
{
    uint64_t state = seed | 1U;
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        const float narrow = (float)(int32_t)(state >> 33U);
        const int64_t whole = (int64_t)((double)narrow * 1.5);
        sum += (double)whole;
        state = state * 6364136223846793005U + (uint64_t)whole + 1U;
    }
    return bits_of(sum);
}

const struct cpu_method cpu_floating[] = {
    {"multiply-add", multiply_add},
    {"division", division},
    {"square-root", square_roots},
    {"trigonometry", trigonometry},
    {"exponential", exponential},
    {"logarithm", logarithm},
    {"matrix", matrix_product},
    {"butterfly", butterflies},
    {"mandelbrot", mandelbrot},
    {"correlation", correlation},
    {"single", single_precision},
    {"conversion", conversion},
    {NULL, NULL},
};
