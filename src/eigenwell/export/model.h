
/* --- @WHAT@ --- */

enum {
    @M@_space = @D@,
    @M@_wells = @K@,
    @M@_layers = @L@,
    @M@_features = @F@,
    @M@_speed_features = @G@,
    @M@_passes = @PASSES@, /* coordinates a layer passes, and moves */
    @M@_moves = @MOVES@
};

@TABLES@

/* The Jacobian of one layer at one state: dq'/dq = scale, dq'/dp = shear. */
typedef struct {
    @WORK@ scale[@M@_moves];
    @WORK@ shear[@M@_moves][@M@_passes];
} @M@_step;

/* y = psi(z), z in unit coordinates, and the layers' Jacobians. */
static inline void @M@_flow(int n, const @WORK@ *z, @WORK@ *y, @M@_step *steps)
{
    enum { D = @M@_space, F = @M@_features, P = @M@_passes, M = @M@_moves };
    const @WORK@ c = @BOUND@, k2 = @M@_window[n] * @M@_window[n];
    for (int i = 0; i < D; ++i) y[i] = z[i];
    for (int l = 0; l < @M@_layers; ++l) {
        const unsigned short *order = @M@_order[l]; /* passing, then moving coordinates */
        @WORK@ half[F], cosine[F], sine[F], out[2 * M], slope[2 * M][P], fade[P], mean = 0;
        for (int f = 0; f < F; ++f) {
            @WORK@ angle = 0;
            for (int i = 0; i < P; ++i) angle += @M@_frequencies[n][l][f][i] * y[order[i]];
            half[f] = angle / 2;
        }
        @P@_turn(half, cosine, sine, F);
        for (int r = 0; r < 2 * M; ++r) {
            out[r] = 0;
            for (int i = 0; i < P; ++i) slope[r][i] = 0;
        }
        for (int f = 0; f < F; ++f) {
            for (int r = 0; r < 2 * M; ++r) {
                const @WORK@ tc = @M@_cosines[n][l][f][r], ts = @M@_sines[n][l][f][r];
                const @WORK@ rate = ts * cosine[f] - tc * sine[f];
                out[r] += tc * cosine[f] + ts * sine[f];
                for (int i = 0; i < P; ++i) slope[r][i] += rate * @M@_frequencies[n][l][f][i];
            }
        }
        for (int i = 0; i < P; ++i) mean += y[order[i]] * y[order[i]] / P;
        const @WORK@ b = 1 / (1 + k2 * mean * k2 * mean); /* psi fades to the identity away from the data */
        for (int i = 0; i < P; ++i) fade[i] = -4 * k2 * k2 / P * b * b * mean * y[order[i]];
        for (int m = 0; m < M; ++m) {
            const @WORK@ q = y[order[P + m]], tau = out[M + m];
            const @WORK@ squashed = tanh@f@(out[m] / c), s = c * squashed;
            const @WORK@ a = 1 / sqrt@f@(1 + k2 * q * q), sa = b * s * a;
            const @WORK@ stretch = exp@f@(sa), stretched = q * stretch;
            for (int i = 0; i < P; ++i) {
                const @WORK@ slope_s = b * (1 - squashed * squashed) * slope[m][i] + s * fade[i];
                steps[l].shear[m][i] = stretched * a * slope_s + b * slope[M + m][i] + tau * fade[i];
            }
            steps[l].scale[m] = stretch * (1 - sa * (1 - a * a));
            y[order[P + m]] = stretched + b * tau;
        }
    }
}

/* w = J^-1 w, by substitution from the last layer to the first. */
static inline void @M@_pull(const @M@_step *steps, @WORK@ *w)
{
    enum { P = @M@_passes, M = @M@_moves };
    for (int l = @M@_layers - 1; l >= 0; --l) {
        const unsigned short *order = @M@_order[l];
        for (int m = 0; m < M; ++m) {
            @WORK@ q = w[order[P + m]];
            for (int i = 0; i < P; ++i) q -= steps[l].shear[m][i] * w[order[i]];
            w[order[P + m]] = q / steps[l].scale[m];
        }
    }
}

/* a_q = w_q r_q^-p / sum, e = sum a_q (y - y_q), u = (I + Omega) e; `only` one attractor, or -1 for all. Returns epsilon. */
static inline @WORK@ @M@_mean(int n, int only, const @WORK@ *y, @WORK@ *a, @WORK@ *square, @WORK@ *e, @WORK@ *u)
{
    enum { D = @M@_space, K = @M@_wells, POWER = @POWER@ };
    @WORK@ least = (@WORK@)HUGE_VAL, total = 0, softening = 0;
    for (int q = 0; q < K; ++q) {
        square[q] = @TINY@;
        for (int i = 0; i < D; ++i) square[q] += (y[i] - @M@_well[n][q][i]) * (y[i] - @M@_well[n][q][i]);
        if (square[q] < least && (only < 0 || only == q)) least = square[q];
    }
    for (int q = 0; q < K; ++q) {
        const @WORK@ ratio = least / square[q];
        a[q] = only < 0 ? @M@_weight[n][q] : (@WORK@)(only == q);
        for (int k = 0; k < POWER / 2; ++k) a[q] *= ratio;
        if (POWER % 2) a[q] *= sqrt@f@(ratio);
        total += a[q];
    }
    for (int i = 0; i < D; ++i) e[i] = 0;
    for (int q = 0; q < K; ++q) {
        a[q] /= total;
        softening += a[q] * @M@_softening[n][q];
        for (int i = 0; i < D; ++i) e[i] += a[q] * (y[i] - @M@_well[n][q][i]);
    }
    for (int i = 0; i < D; ++i) u[i] = e[i];
    for (int q = 0; q < K; ++q) {
        for (int i = 0; i < D; ++i) {
            for (int j = 0; j < D; ++j) u[i] += a[q] * @M@_swirl[n][q][i][j] * e[j];
        }
    }
    return softening;
}

/* s(z) > 0. */
static inline @WORK@ @M@_speed(int n, const @WORK@ *z)
{
    enum { D = @M@_space, G = @M@_speed_features };
    @WORK@ half[G], cosine[G], sine[G], sum = 0, mean = 0;
    const @WORK@ k2 = @M@_speed_window[n] * @M@_speed_window[n];
    for (int g = 0; g < G; ++g) {
        half[g] = 0;
        for (int i = 0; i < D; ++i) half[g] += @M@_speed_frequencies[n][g][i] * z[i] / 2;
    }
    @P@_turn(half, cosine, sine, G);
    for (int g = 0; g < G; ++g) sum += @M@_speed_cosines[n][g] * cosine[g] + @M@_speed_sines[n][g] * sine[g];
    for (int i = 0; i < D; ++i) mean += z[i] * z[i] / D;
    return exp@f@(sum / (1 + k2 * mean * k2 * mean) + @M@_speed_offset[n]);
}

/* Into this world; the brake, m = (1 + r^8)^(-1/8), r = |brake * w|; and the data's units. */
static inline void @M@_limit(int n, const @P@_world *world, const @P@_seen *seen, @WORK@ *w)
{
    enum { D = @M@_space, N = @P@_warped };
    @WORK@ square = 0, here[N];
    for (int i = 0; i < N; ++i) here[i] = w[i] * @M@_scale[n][i];
    @WORK@ clock = 1;
#if @SOFT@
    clock = @P@_harden(seen, here);
#endif
    clock *= @P@_carry(world, seen, here);
    for (int i = 0; i < D; ++i) w[i] = i < N ? here[i] / @M@_scale[n][i] : clock * w[i];
    for (int i = 0; i < D; ++i) square += @M@_brake[n][i] * w[i] * @M@_brake[n][i] * w[i];
    const @WORK@ r = sqrt@f@(square), top = r > 1 ? r : 1, low = r / top / top; /* the smaller of r and 1/r */
    const @WORK@ low2 = low * low, low4 = low2 * low2;
    const @WORK@ braked = 1 / (top * sqrt@f@(sqrt@f@(sqrt@f@(1 + low4 * low4))));
    for (int i = 0; i < D; ++i) w[i] *= braked * @M@_gain[n][i];
    clock = @P@_slow(world, seen, w);
    for (int i = N; i < D; ++i) w[i] *= clock;
}

/* z = S(x) in unit coordinates. */
static inline void @M@_unit(int n, const @P@_world *world, @P@_seen *seen, const @REAL@ *x, int count, @WORK@ *z)
{
    for (int i = 0; i < count; ++i) z[i] = (@WORK@)x[i];
    @P@_enter(world, z, seen);
#if @SOFT@
    @P@_soften(@M@_knee[n], z, seen);
#endif
    for (int i = 0; i < count; ++i) z[i] = ((z[i] - @M@_centre[n][i]) - @M@_centre_rest[n][i]) / @M@_scale[n][i];
}

/* xdot = m s(x) J^-1 u,  u = -(I + Omega) e / (|e| + epsilon). */
static inline void @M@_velocity(int n, int only, const @P@_world *world, const @REAL@ *x, @REAL@ *v)
{
    enum { D = @M@_space, K = @M@_wells };
    @WORK@ z[D], y[D], a[K], square[K], e[D], u[D], norm = @TINY@;
    @M@_step steps[@M@_layers];
    @P@_seen seen;
    @M@_unit(n, world, &seen, x, D, z);
    @M@_flow(n, z, y, steps);
    const @WORK@ softening = @M@_mean(n, only, y, a, square, e, u);
    for (int i = 0; i < D; ++i) norm += e[i] * e[i];
    const @WORK@ factor = -@M@_speed(n, z) / (sqrt@f@(norm) + softening);
    for (int i = 0; i < D; ++i) u[i] *= factor;
    @M@_pull(steps, u);
    @M@_limit(n, world, &seen, u);
    for (int i = 0; i < D; ++i) v[i] = (@REAL@)u[i];
}
