/* A 1 kHz control loop on an exported field. The header is the whole library.
 *
 *   eigenwell export MODEL --c field.h
 *   cc -std=c99 -O2 -I. examples/control_loop.c -o control_loop -lm && ./control_loop SECONDS x0 x1 ... push0 push1 ...
 *
 * First the map: where would it go from here. Then, where the field has memory, a motion: what was shown; it is pushed
 * half-way, and rejoins its path. The robot here is an integrator that follows its command; put your reading and your command
 * in its place. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "field.h"

typedef eigenwell_field_real real;
enum { D = eigenwell_field_dimension, MOTIONS = eigenwell_field_memory };
static const long PERIOD_NS = 1000000;

static double microseconds(struct timespec from, struct timespec to)
{
    return 1e6 * (double)(to.tv_sec - from.tv_sec) + 1e-3 * (double)(to.tv_nsec - from.tv_nsec);
}

static int loop(int ticks, int with_memory, const double *start, const double *push)
{
    double x[D], slowest = 0, total = 0;
    real now[D], v[D];
    int late = 0;
    struct timespec due;
    for (int i = 0; i < D; ++i) {
        x[i] = start[i];
        now[i] = (real)x[i];
    }
#if defined(eigenwell_field_HAS_MOTION)
    eigenwell_field_motion motion = {0};
    if (with_memory && !eigenwell_field_motion_begin(&motion, now)) return 1;
#endif
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (int tick = 0; tick < ticks; ++tick) {
        struct timespec begin, end;
        for (int i = 0; i < D; ++i) now[i] = (real)x[i];
        clock_gettime(CLOCK_MONOTONIC, &begin);
#if defined(eigenwell_field_HAS_MOTION)
        if (with_memory) eigenwell_field_motion_step(&motion, now, (real)(1e-9 * (double)PERIOD_NS), v);
        else
#endif
            eigenwell_field_velocity(now, v);
        clock_gettime(CLOCK_MONOTONIC, &end);
        for (int i = 0; i < D; ++i) {
            x[i] += 1e-9 * (double)PERIOD_NS * (double)v[i] + (with_memory && tick == ticks / 2 ? push[i] : 0);
        }
        const double spent = microseconds(begin, end);
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
    for (int i = 0; i < D; ++i) now[i] = (real)x[i];
    printf("C:      %s, %d ticks at 1 kHz, %.1f us per velocity (slowest %.0f), %d late; ", with_memory ? "motion" : "map",
           ticks, total / ticks, slowest, late);
#if defined(eigenwell_field_HAS_MOTION)
    if (with_memory) printf("phase %.2g at (", (double)motion.phase);
    else
#endif
        printf("V = %.2g at (", (double)eigenwell_field_potential(now));
    for (int i = 0; i < D; ++i) printf(i ? ", %.4g" : "%.4g", x[i]);
    printf(")\n");
    return 0;
}

/* The world changes while it runs: a goal that moves, seen 30 times a second, and a ball half-way. Nothing is allocated. */
static int loop_in_a_world(int ticks, const double *start)
{
    enum { N = eigenwell_field_warped };
    eigenwell_field_world world = eigenwell_field_home, next;
    double x[D], span = 0, made = 0, total = 0;
    real now[D], v[D];
    int goal, refused = 0, worlds = 0;
    for (int i = 0; i < D; ++i) {
        x[i] = start[i];
        now[i] = (real)x[i];
        span += (double)(eigenwell_field_box[i] * eigenwell_field_box[i]);
    }
    span = sqrt(span);
    goal = eigenwell_field_basin(now) < 0 ? 0 : eigenwell_field_basin(now);
    for (int tick = 0; tick < ticks; ++tick) {
        struct timespec begin, middle, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        if (tick % 33 == 0) {
            next = eigenwell_field_home;
            next.goal[goal][0] += (eigenwell_field_work)(0.05 * span * sin(0.001 * tick));
            if (tick == 0 || world.bodies > eigenwell_field_home.bodies) {
                const int ball = next.bodies++;
                for (int i = 0; i < N; ++i) {
                    next.centre[ball][i] = (eigenwell_field_work)((start[i] + (double)eigenwell_field_home.goal[goal][i]) / 2);
                    for (int j = 0; j < N; ++j) next.shape[ball][i][j] = i == j ? (eigenwell_field_work)(1 / (0.05 * span)) : 0;
                }
            }
            if (eigenwell_field_world_ready(&next)) world = next; /* else the last one stays: no room for the new one */
            else ++refused;
            ++worlds;
        }
        clock_gettime(CLOCK_MONOTONIC, &middle);
        for (int i = 0; i < D; ++i) now[i] = (real)x[i];
        eigenwell_field_velocity_in(&world, now, v);
        clock_gettime(CLOCK_MONOTONIC, &end);
        for (int i = 0; i < D; ++i) x[i] += 1e-9 * (double)PERIOD_NS * (double)v[i];
        made += microseconds(begin, middle);
        total += microseconds(middle, end);
    }
    printf("C:      a goal that moves and a ball, %.1f us per velocity, %.1f us per world, %d of %d refused; at (", total / ticks,
           made / worlds, refused, worlds);
    for (int i = 0; i < D; ++i) printf(i ? ", %.4g" : "%.4g", x[i]);
    printf(")\n");
    return 0;
}

int main(int argc, char **argv)
{
    double start[D], push[D];
    real x[D];
    if (argc != 2 + 2 * D) {
        fprintf(stderr, "usage: %s SECONDS, %d coordinates to start from and %d to be pushed by\n", argv[0], (int)D, (int)D);
        return 2;
    }
    const int ticks = (int)(1000 * atof(argv[1]));
    for (int i = 0; i < D; ++i) {
        start[i] = atof(argv[2 + i]);
        push[i] = atof(argv[2 + D + i]);
        x[i] = (real)start[i];
    }
    if (eigenwell_field_far(x)) fprintf(stderr, "warning: no data near the start; it is stable there but not learned\n");
    return loop(ticks, 0, start, push) || (MOTIONS && loop(ticks, 1, start, push)) || loop_in_a_world(ticks, start);
}
