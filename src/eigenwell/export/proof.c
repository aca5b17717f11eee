/* Answers questions about an exported header: a letter's number and a count, then rows of doubles; rows of doubles back. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "@HEADER@"

enum { D = @P@_dimension, WIDE = 3 * D + 4 };
static double in[@STATES@ * WIDE], out[@STATES@ * (D + 3)];

static void states(const double *row, @REAL@ *x)
{
    for (int i = 0; i < D; ++i) x[i] = (@REAL@)row[i];
}

/* What is asked of one row, and how many numbers it takes and gives. */
static int answer(int letter, const double *row, double *said)
{
    @REAL@ x[D], v[D] = {0};
    states(letter == 't' ? row + 1 : row, x);
    switch (letter) {
    case 'v': /* all of the map */
        said[D] = (double)@P@_potential(x);
        said[D + 1] = @P@_basin(x);
        said[D + 2] = @P@_far(x);
        @P@_velocity(x, v);
        break;
    case 'l': @P@_velocity(x, v); break;
    case 'a': said[D] = @P@_advance(x, (@REAL@)row[D], v); break;
    case 't':
        @P@_toward((int)row[0], x, v);
        said[D] = (double)@P@_potential_toward((int)row[0], x);
        break;
#if @MEMORY@
    case 'b': { /* where motions begin */
        @P@_motion motion;
        (void)@P@_motion_begin(&motion, x);
        said[0] = motion.goal;
        said[1] = (double)motion.phase;
        return 0;
    }
    case 'm': { /* begin, a step elsewhere with another phase, and what the next step makes of it */
        @P@_motion motion;
        @REAL@ next[D];
        if (!@P@_motion_begin_at(&motion, (int)row[D], (@REAL@)row[D + 1], x)) return 1;
        states(row + D + 2, x);
        states(row + 2 * D + 3, next);
        motion.phase = (@WORK@)row[2 * D + 2];
        (void)@P@_motion_step(&motion, x, (@REAL@)row[3 * D + 3], v);
        said[D] = (double)motion.rate;
        @REAL@ ignored[D];
        (void)@P@_motion_step(&motion, next, (@REAL@)row[3 * D + 3], ignored);
        said[D + 1] = (double)motion.phase;
        break;
    }
    case 'd': { /* begin, and two steps of some length along the solution */
        @P@_motion motion;
        @REAL@ next[D];
        if (!@P@_motion_begin_at(&motion, (int)row[D], (@REAL@)row[D + 1], x)) return 1;
        said[D] = @P@_motion_advance(&motion, x, (@REAL@)row[D + 2], next) & @P@_motion_advance(&motion, next, (@REAL@)row[D + 2], v);
        said[D + 1] = (double)motion.phase;
        break;
    }
    case 'r': { /* a loop until done */
        @P@_motion motion;
        if (!@P@_motion_begin(&motion, x)) return 1;
        const @REAL@ dt = (@REAL@)row[D];
        for (long step = 0; step < (long)row[D + 1]; ++step) {
            (void)@P@_motion_step(&motion, x, dt, v);
            if (@P@_motion_done(&motion)) break;
            for (int i = 0; i < D; ++i) x[i] += dt * v[i];
        }
        said[D] = @P@_motion_done(&motion);
        for (int i = 0; i < D; ++i) v[i] = x[i];
        break;
    }
#endif
#if @POSES@
    case 'p': { /* the state of a pose, and whether anything is known there */
        @REAL@ quaternion[4], linear[D], angular[3];
        for (int i = 0; i < 4; ++i) quaternion[i] = (@REAL@)row[D - 3 + i];
        said[D] = @P@_state(x, quaternion, v) & @P@_twist(x, quaternion, linear, angular);
        break;
    }
    case 'o': /* the twist of a state */
        @P@_velocity(x, v);
        @P@_angular(x, v, v + D - 3);
        break;
#endif
    default: return 1;
    }
    for (int i = 0; i < D; ++i) said[i] = (double)v[i];
    return 0;
}

/* Microseconds per velocity, or per step of a motion. */
static double latency(int motions, int count)
{
    double spent = 0, asked = 0, sum = 0;
#if @MEMORY@
    static @P@_motion motion[@STATES@];
    for (int n = 0; n < count && motions; ++n) {
        @REAL@ x[D];
        states(in + n * D, x);
        (void)@P@_motion_begin(motion + n, x);
    }
#endif
    while (spent < 0.1) {
        const clock_t start = clock();
        for (int n = 0; n < count; ++n) {
            @REAL@ x[D], v[D];
            states(in + n * D, x);
#if @MEMORY@
            if (motions) (void)@P@_motion_step(motion + n, x, (@REAL@)1e-9, v);
            else
#endif
                @P@_velocity(x, v);
            sum += (double)v[0];
        }
        spent += (double)(clock() - start) / CLOCKS_PER_SEC;
        asked += count;
    }
    return 1e6 * spent / asked + (sum > 1e300 ? 1 : 0) + 0 * motions; /* the sum keeps the work from being left out */
}

int main(void)
{
    int asked[4]; /* letter, rows, numbers in a row, numbers in an answer */
    while (fread(asked, sizeof asked, 1, stdin) == 1) {
        const int rows = asked[1], given = asked[2], wanted = asked[3];
        if (rows < 1 || rows > @STATES@ || given > WIDE || wanted > D + 3) return 1;
        if (fread(in, sizeof in[0], (size_t)(rows * given), stdin) != (size_t)(rows * given)) return 1;
        if (asked[0] == 'T' || asked[0] == 'M') out[0] = latency(asked[0] == 'M', rows);
        else {
            for (int n = 0; n < rows; ++n) {
                if (answer(asked[0], in + n * given, out + n * wanted)) return 1;
            }
        }
        const size_t count = (size_t)(asked[0] == 'T' || asked[0] == 'M' ? 1 : rows * wanted);
        if (fwrite(out, sizeof out[0], count, stdout) != count || fflush(stdout)) return 1;
    }
    return 0;
}
