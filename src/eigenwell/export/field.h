/* @TITLE@
 *
 * Made by eigenwell @VERSION@; @PROOF@. C99, no allocation, math.h only.
 *
 * The map, one continuous field of all attractors; safe in a loop, from anywhere:
 *   void @P@_velocity(const @REAL@ x[@D@], @REAL@ v[@D@])       v = f(x)
 *   int  @P@_basin(const @REAL@ x[@D@])                   the attractor in which x ends, 0 to @LAST@; -1 on a border
 *   int  @P@_far(const @REAL@ x[@D@])                     1 where no data were near: stable, but nothing was learned
 *   @REAL@ @P@_potential(const @REAL@ x[@D@])               V, falls along every solution, zero at the attractors
 *   int  @P@_advance(const @REAL@ x[@D@], @REAL@ dt, @REAL@ next[@D@])    the state after dt, for robots that are told positions
 *   @P@_attractors[goal][@D@]                              where solutions end
 * One attractor alone; the caller keeps the goal. NaN for a goal that does not exist:
 *   void @P@_toward(int goal, const @REAL@ x[@D@], @REAL@ v[@D@])
 *   @REAL@ @P@_potential_toward(int goal, const @REAL@ x[@D@])
 * Goals elsewhere, walls, things in the way: every function above and below has a form _in with a world before its arguments:
 *   @P@_world world = @P@_home;                       then set world.goal, .bodies, .centre, .shape, .low, .high
 *   int  @P@_world_ready(@P@_world *world)            1; or 0, and it must not be used: no room
 *   void @P@_velocity_in(const @P@_world *world, const @REAL@ x[@D@], @REAL@ v[@D@])
@MOTION_HELP@@POSE_HELP@ *
 * NaN in gives NaN out, far = 1 and basin = -1.
 */
#ifndef @GUARD@
#define @GUARD@

#include <math.h>

#if defined(__FAST_MATH__)
#error "Compile without -ffast-math: angles are reduced by differences that it would simplify away."
#endif

/* States and velocities, and the arithmetic between them. */
typedef @REAL@ @P@_real;
typedef @WORK@ @P@_work;

enum {
    @P@_dimension = @D@,
    @P@_attractor_count = @Q@,
    @P@_memory = @MEMORY@, /* 1 where there are motions */
    @P@_samples = @N@,
    @P@_depth = @DEPTH@ /* of the tree of samples */
};

@TABLES@

@KERNELS@
/* cos(2 h) and sin(2 h), of half-angles h. Both have period pi, so h is brought into [-pi/2, pi/2]. */
static inline void @P@_turn(const @WORK@ *half, @WORK@ *cosine, @WORK@ *sine, int count)
{
    int small = 1;
    for (int i = 0; i < count; ++i) small &= fabs@f@(half[i]) < @LIMIT@;
    if (!small) { /* too far out for the reduction below (or NaN): the library is slower and always right */
        for (int i = 0; i < count; ++i) {
            cosine[i] = cos@f@(2 * half[i]);
            sine[i] = sin@f@(2 * half[i]);
        }
        return;
    }
    for (int i = 0; i < count; ++i) {
        const @WORK@ h = half[i];
        const @WORK@ k = (@WORK@)(int)(h * @INVERSE_PI@ + (h < 0 ? -0.5@f@ : 0.5@f@));
        const @WORK@ r = ((h - k * @PI_1@) - k * @PI_2@) - k * @PI_3@; /* pi in three parts: k * part is exact */
        const @WORK@ z = r * r;
        const @WORK@ s = r * (@SINE@);
        const @WORK@ c = @COSINE@;
        cosine[i] = 1 - 2 * s * s;
        sine[i] = 2 * s * c;
    }
}
@WORLD@@MODELS@
/* --- the map --- */

/* 1 at an attractor as it was rounded, which rests too; `only` one of them, or -1 for any. */
static inline int @P@_at_rest(int only, const @P@_world *world, const @REAL@ *x)
{
    for (int q = 0; q < @P@_attractor_count; ++q) {
        int same = only < 0 || only == q;
        for (int i = 0; i < @P@_dimension; ++i) {
            const @REAL@ place = i < @P@_warped ? (@REAL@)world->goal[q][i < @P@_warped ? i : 0] : @P@_attractors[q][i];
            same &= !(x[i] < place) && !(x[i] > place);
        }
        if (same) return 1;
    }
    return 0;
}

static inline int @P@_known(const @REAL@ *x)
{
    for (int i = 0; i < @P@_dimension; ++i) {
        if (isnan(x[i])) return 0;
    }
    return 1;
}

static inline void @P@_velocity_in(const @P@_world *world, const @REAL@ *x, @REAL@ *v)
{
    if (@P@_known(x) && @P@_at_rest(-1, world, x)) {
        for (int i = 0; i < @P@_dimension; ++i) v[i] = 0;
        return;
    }
    @P@_map_velocity(0, -1, world, x, v);
}

/* y = psi(x) of the map. */
static inline void @P@_latent(const @P@_world *world, const @REAL@ *x, @WORK@ *y)
{
    @WORK@ place[@P@_dimension];
    @P@_map_place at;
    for (int i = 0; i < @P@_dimension; ++i) place[i] = (@WORK@)x[i];
    @P@_map_at(0, world, place, &at);
    for (int i = 0; i < @P@_dimension; ++i) y[i] = at.y[i];
}

/* V, half the squared power mean of the distances to the attractors. */
static inline @REAL@ @P@_potential_in(const @P@_world *world, const @REAL@ *x)
{
    @WORK@ y[@P@_dimension], height;
    if (@P@_known(x) && @P@_at_rest(-1, world, x)) return 0;
    @P@_latent(world, x, y);
    @P@_height(y, &height);
    return (@REAL@)height;
}

/* Where x ends: psi(x) followed by Runge-Kutta 4 in the latent space, dy/dsigma = -(I + Omega) e, until one attractor
 * outweighs the others for good. */
static inline int @P@_basin_in(const @P@_world *world, const @REAL@ *x)
{
    const @WORK@ step = @LONGEST@;
    @WORK@ y[@P@_dimension], nearest, decided, rests;
    if (!@P@_known(x)) return -1;
    if (@P@_attractor_count == 1) return 0;
    @P@_latent(world, x, y);
    for (long count = 0; count < @MOST_STEPS@; ++count) {
        @P@_decisions(y, &nearest, &decided, &rests);
        if (decided > 0) return (int)nearest;
        if (rests > 0) return -1;
        @P@_advanced(y, &step, y);
    }
    return -1;
}

@ADVANCE@/* --- one attractor alone --- */

static inline void @P@_toward_in(const @P@_world *world, int goal, const @REAL@ *x, @REAL@ *v)
{
    const int known = goal >= 0 && goal < @P@_attractor_count;
    if (!known || (@P@_known(x) && @P@_at_rest(goal, world, x))) {
        for (int i = 0; i < @P@_dimension; ++i) v[i] = known ? 0 : (@REAL@)NAN;
        return;
    }
    @TOWARD@_velocity(@TOWARD_N@, @TOWARD_ONLY@, world, x, v);
}

/* V = |y - y_goal|^2 / 2. */
static inline @REAL@ @P@_potential_toward_in(const @P@_world *world, int goal, const @REAL@ *x)
{
    @WORK@ place[@P@_dimension], height;
    @TOWARD@_place at;
    if (goal < 0 || goal >= @P@_attractor_count) return (@REAL@)NAN;
    if (@P@_known(x) && @P@_at_rest(goal, world, x)) return 0;
    for (int i = 0; i < @P@_dimension; ++i) place[i] = (@WORK@)x[i];
    @TOWARD@_at(@TOWARD_N@, world, place, &at);
    @P@_height_alone(@TOWARD@_well[@TOWARD_N@][@TOWARD_ONLY@], at.y, &height);
    return (@REAL@)height;
}

/* --- the samples --- */

/* The nearest sample, axes scaled to the data's box, and the square of its distance; of one goal, or -1 for all. With
 * `phase` the beginnings of paths are preferred. A balanced k-d tree: the middle of a range of samples divides the rest
 * along its own axis. */
static inline int @P@_nearest(const @P@_world *world, const @REAL@ *x, int goal, const @REAL@ *phase, @WORK@ *distance)
{
    enum { D = @P@_dimension };
    struct { int low, high; @WORK@ gap; } later[@P@_depth];
    int low = 0, high = @P@_samples, waiting = 0, best = 0;
    @WORK@ z[D], least = (@WORK@)HUGE_VAL;
    @P@_seen seen;
    for (int i = 0; i < D; ++i) z[i] = (@WORK@)x[i];
    @P@_enter(world, 0, 0, z, &seen);
    for (int i = 0; i < D; ++i) z[i] = ((z[i] - (@WORK@)@P@_middle[i]) - @P@_middle_rest[i]) / @P@_box[i];
    for (;;) {
        while (low < high) {
            const int at = low + (high - low) / 2;
            const @REAL@ *sample = @P@_sample[at];
            const @WORK@ gap = z[@P@_axis[at]] - (@WORK@)sample[@P@_axis[at]];
            const @WORK@ late = phase ? @LATE@ * (1 - (@WORK@)phase[at]) : 0;
            @WORK@ square = late * late;
            for (int i = 0; i < D; ++i) square += (z[i] - (@WORK@)sample[i]) * (z[i] - (@WORK@)sample[i]);
            if (square < least && (goal < 0 || goal == (int)@P@_label[at])) {
                least = square;
                best = at;
            }
            later[waiting].gap = gap * gap;
            later[waiting].low = gap < 0 ? at + 1 : low;
            later[waiting].high = gap < 0 ? high : at;
            waiting += 1;
            if (gap < 0) high = at;
            else low = at + 1;
        }
        do {
            if (waiting == 0) {
                *distance = least;
                return best;
            }
            waiting -= 1;
        } while (later[waiting].gap >= least);
        low = later[waiting].low;
        high = later[waiting].high;
    }
}

static inline int @P@_far_in(const @P@_world *world, const @REAL@ *x)
{
    @WORK@ distance;
    (void)@P@_nearest(world, x, -1, 0, &distance);
    return distance > @REACH@;
}

@MOTION@@POSES@
#endif
