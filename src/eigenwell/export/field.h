/* @TITLE@
 *
 * Made by eigenwell @VERSION@; @PROOF@. C99, no allocation, math.h only.
 *
 *   int  @P@_basin(const @REAL@ x[@D@])                   which attractor x belongs to, 0 to @LAST@
 *   int  @P@_far(const @REAL@ x[@D@])                     1 where no data were near: stable, but nothing was learned
 *   void @P@_velocity(const @REAL@ x[@D@], @REAL@ v[@D@])       v = f(x), by the field of x's own basin
 *   void @P@_velocity_in(int basin, const @REAL@ x[@D@], @REAL@ v[@D@])
 *   @REAL@ @P@_potential(const @REAL@ x[@D@])               V, falls along every motion, zero at the attractor
 *   @REAL@ @P@_potential_in(int basin, const @REAL@ x[@D@])
 *   @P@_attractors[basin][@D@]                             where motions end
 *
 * A controller asks for the basin once, where it starts, and keeps it with velocity_in: stability is a promise of
 * each field, and a border crossed half-way would change the promise. NaN in gives NaN out, and far = 1.
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
    @P@_layers = @L@,
    @P@_features = @F@,
    @P@_speed_features = @G@,
    @P@_passes = @PASSES@, /* coordinates a layer passes, and moves */
    @P@_moves = @MOVES@,
    @P@_samples = @N@,
    @P@_depth = @DEPTH@ /* of the tree of samples */
};

@TABLES@

/* cos(2 h) - 1 and sin(2 h), of half-angles h. Both have period pi, so h is brought into [-pi/2, pi/2]. */
static inline void @P@_turn(const @WORK@ *half, @WORK@ *fall, @WORK@ *rise, int count)
{
    int small = 1;
    for (int i = 0; i < count; ++i) small &= fabs@f@(half[i]) < @LIMIT@;
    if (!small) { /* too far out for the reduction below (or NaN): the library is slower and always right */
        for (int i = 0; i < count; ++i) {
            const @WORK@ s = sin@f@(half[i]);
            fall[i] = -2 * s * s;
            rise[i] = 2 * s * cos@f@(half[i]);
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
        fall[i] = -2 * s * s;
        rise[i] = 2 * s * c;
    }
}

/* The Jacobian of one layer at one state: q' = scale q + ..., dq'/dp = shear. */
typedef struct {
    @WORK@ scale[@P@_moves];
    @WORK@ shear[@P@_moves][@P@_passes];
} @P@_step;

/* dx, from the attractor in unit coordinates; y = psi(x) - psi(x*), by differences from the attractor's own path. */
static inline void @P@_flow(int basin, const @REAL@ *x, @WORK@ *dx, @WORK@ *y, @P@_step *steps)
{
    enum { D = @P@_dimension, F = @P@_features, P = @P@_passes, M = @P@_moves };
    const @WORK@ c = @BOUND@;
    for (int i = 0; i < D; ++i) {
        const @WORK@ away = ((@WORK@)x[i] - (@WORK@)@P@_attractors[basin][i]) - @P@_attractor_rest[basin][i];
        y[i] = dx[i] = away / @P@_scale[basin][i];
    }
    for (int l = 0; l < @P@_layers; ++l) {
        const unsigned short *order = @P@_order[l]; /* passing, then moving coordinates */
        @WORK@ half[F], fall[F], rise[F], change[2 * M], slope[2 * M][P];
        for (int f = 0; f < F; ++f) {
            @WORK@ angle = 0;
            for (int i = 0; i < P; ++i) angle += @P@_frequencies[basin][l][f][i] * y[order[i]];
            half[f] = angle / 2;
        }
        @P@_turn(half, fall, rise, F);
        for (int r = 0; r < 2 * M; ++r) {
            change[r] = 0;
            for (int i = 0; i < P; ++i) slope[r][i] = 0;
        }
        for (int f = 0; f < F; ++f) {
            for (int r = 0; r < 2 * M; ++r) {
                const @WORK@ rc = @P@_cosines[basin][l][f][r], rs = @P@_sines[basin][l][f][r];
                const @WORK@ rate = rs * (1 + fall[f]) - rc * rise[f];
                change[r] += rc * fall[f] + rs * rise[f];
                for (int i = 0; i < P; ++i) slope[r][i] += rate * @P@_frequencies[basin][l][f][i];
            }
        }
        for (int m = 0; m < M; ++m) {
            const @WORK@ t0 = @P@_squash[basin][l][m], home = @P@_home[basin][l][m], dq = y[order[P + m]];
            const @WORK@ d = tanh@f@(change[m] / c);
            const @WORK@ dt = d * (1 - t0 * t0) / (1 + d * t0);
            const @WORK@ t = t0 + dt;
            const @WORK@ grown = expm1@f@(c * dt);
            const @WORK@ still = @P@_still[basin][l][m]; /* e^s at the attractor */
            const @WORK@ scale = still * (1 + grown);
            for (int i = 0; i < P; ++i) {
                steps[l].shear[m][i] = (home + dq) * scale * (1 - t * t) * slope[m][i] + slope[M + m][i];
            }
            steps[l].scale[m] = scale;
            y[order[P + m]] = dq * scale + home * still * grown + change[M + m];
        }
    }
}

static inline int @P@_at_rest(int basin, const @REAL@ *x)
{
    int same = 1;
    for (int i = 0; i < @P@_dimension; ++i) same &= !(x[i] < @P@_attractors[basin][i]) && !(x[i] > @P@_attractors[basin][i]);
    return same;
}

/* xdot = m s(x) J^-1 u,  u = -(I + Omega) y / (|y| + epsilon),  m = (1 + r^8)^(-1/8) the brake, r = |brake * s J^-1 u|. */
static inline void @P@_velocity_in(int basin, const @REAL@ *x, @REAL@ *v)
{
    enum { D = @P@_dimension, G = @P@_speed_features, P = @P@_passes, M = @P@_moves };
    @WORK@ dx[D], y[D], w[D], half[G], fall[G], rise[G];
    @P@_step steps[@P@_layers];
    @WORK@ square = 0, log_speed = @P@_speed_at_rest[basin];
    @P@_flow(basin, x, dx, y, steps);
    for (int i = 0; i < D; ++i) square += y[i] * y[i];
    for (int i = 0; i < D; ++i) {
        w[i] = y[i];
        for (int j = 0; j < D; ++j) w[i] += @P@_swirl[basin][i][j] * y[j];
        w[i] /= -(sqrt@f@(square) + @P@_softening[basin]);
    }
    for (int l = @P@_layers - 1; l >= 0; --l) {
        const unsigned short *order = @P@_order[l];
        for (int m = 0; m < M; ++m) {
            @WORK@ q = w[order[P + m]];
            for (int i = 0; i < P; ++i) q -= steps[l].shear[m][i] * w[order[i]];
            w[order[P + m]] = q / steps[l].scale[m];
        }
    }
    for (int g = 0; g < G; ++g) {
        half[g] = 0;
        for (int i = 0; i < D; ++i) half[g] += @P@_speed_frequencies[basin][g][i] * dx[i] / 2;
    }
    @P@_turn(half, fall, rise, G);
    for (int g = 0; g < G; ++g) {
        log_speed += @P@_speed_cosines[basin][g] * fall[g] + @P@_speed_sines[basin][g] * rise[g];
    }
    const @WORK@ moving = @P@_at_rest(basin, x) ? 0 : exp@f@(log_speed); /* the attractor, as it was rounded, rests too */
    square = 0;
    for (int i = 0; i < D; ++i) {
        w[i] *= moving;
        square += @P@_brake[basin][i] * w[i] * @P@_brake[basin][i] * w[i];
    }
    const @WORK@ r = sqrt@f@(square), top = r > 1 ? r : 1, low = r / top / top; /* the smaller of r and 1/r */
    const @WORK@ low2 = low * low, low4 = low2 * low2;
    const @WORK@ braked = 1 / (top * sqrt@f@(sqrt@f@(sqrt@f@(1 + low4 * low4))));
    for (int i = 0; i < D; ++i) v[i] = (@REAL@)(braked * @P@_gain[basin][i] * w[i]);
}

/* V = |y|^2 / 2. */
static inline @REAL@ @P@_potential_in(int basin, const @REAL@ *x)
{
    @WORK@ dx[@P@_dimension], y[@P@_dimension], square = 0;
    @P@_step steps[@P@_layers];
    if (@P@_at_rest(basin, x)) return 0;
    @P@_flow(basin, x, dx, y, steps);
    for (int i = 0; i < @P@_dimension; ++i) square += y[i] * y[i];
    return (@REAL@)(square / 2);
}

/* The nearest sample, axes scaled to the data's box, and the square of its distance.
 * A balanced k-d tree: the middle of a range of samples divides the rest along its own axis. */
static inline int @P@_nearest(const @REAL@ *x, @WORK@ *distance)
{
    enum { D = @P@_dimension };
    struct { int low, high; @WORK@ gap; } later[@P@_depth];
    int low = 0, high = @P@_samples, waiting = 0, best = 0;
    @WORK@ z[D], least = (@WORK@)HUGE_VAL;
    for (int i = 0; i < D; ++i) {
        z[i] = (((@WORK@)x[i] - (@WORK@)@P@_middle[i]) - @P@_middle_rest[i]) / @P@_box[i];
    }
    for (;;) {
        while (low < high) {
            const int at = low + (high - low) / 2;
            const @REAL@ *sample = @P@_sample[at];
            const @WORK@ gap = z[@P@_axis[at]] - (@WORK@)sample[@P@_axis[at]];
            @WORK@ square = 0;
            for (int i = 0; i < D; ++i) square += (z[i] - (@WORK@)sample[i]) * (z[i] - (@WORK@)sample[i]);
            if (square < least) {
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

static inline int @P@_basin(const @REAL@ *x)
{
    @WORK@ distance;
    return @P@_attractor_count == 1 ? 0 : (int)@P@_label[@P@_nearest(x, &distance)];
}

static inline int @P@_far(const @REAL@ *x)
{
    @WORK@ distance;
    (void)@P@_nearest(x, &distance);
    return distance > @REACH@;
}

static inline void @P@_velocity(const @REAL@ *x, @REAL@ *v) { @P@_velocity_in(@P@_basin(x), x, v); }

static inline @REAL@ @P@_potential(const @REAL@ *x) { return @P@_potential_in(@P@_basin(x), x); }

#endif
