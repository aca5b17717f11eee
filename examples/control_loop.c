/* A 1 kHz control loop on an exported field. The header is the whole library.
 *
 *   eigenwell export MODEL --c field.h
 *   cc -std=c99 -O2 -I. examples/control_loop.c -o control_loop -lm && ./control_loop SECONDS x0 x1 ...
 *
 * The robot here is an integrator that follows its command; put your reading and your command in its place. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "field.h"

typedef eigenwell_field_real real;
enum { D = eigenwell_field_dimension };
static const long PERIOD_NS = 1000000;

static double microseconds(struct timespec from, struct timespec to)
{
    return 1e6 * (double)(to.tv_sec - from.tv_sec) + 1e-3 * (double)(to.tv_nsec - from.tv_nsec);
}

int main(int argc, char **argv)
{
    real x[D], v[D];
    double slowest = 0, total = 0;
    int late = 0;
    if (argc != 2 + D) {
        fprintf(stderr, "usage: %s SECONDS and %d coordinates to start from\n", argv[0], (int)D);
        return 2;
    }
    const int ticks = (int)(1000 * atof(argv[1]));
    for (int i = 0; i < D; ++i) x[i] = (real)atof(argv[2 + i]);

    /* Once: which attractor? The answer is kept, so that V falls to the end whatever borders are crossed. */
    const int basin = eigenwell_field_basin(x);
    if (eigenwell_field_far(x)) fprintf(stderr, "warning: no data near the start; the motion is stable but not learned\n");

    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (int tick = 0; tick < ticks; ++tick) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        eigenwell_field_velocity_in(basin, x, v);
        clock_gettime(CLOCK_MONOTONIC, &end);
        for (int i = 0; i < D; ++i) x[i] += (real)(1e-9 * (double)PERIOD_NS) * v[i];

        const double spent = microseconds(start, end);
        total += spent;
        if (spent > slowest) slowest = spent;
        due.tv_nsec += PERIOD_NS;
        if (due.tv_nsec >= 1000000000) {
            due.tv_nsec -= 1000000000;
            due.tv_sec += 1;
        }
        late += microseconds(due, end) > 0;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    }

    printf("C:      %d ticks at 1 kHz, %.1f us per velocity (slowest %.0f), %d late; V = %.2g at (", ticks,
           total / ticks, slowest, late, (double)eigenwell_field_potential_in(basin, x));
    for (int i = 0; i < D; ++i) printf(i ? ", %.4g" : "%.4g", (double)x[i]);
    printf(")\n");
    return 0;
}
