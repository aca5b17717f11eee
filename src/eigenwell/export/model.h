
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

@KERNELS@
/* The Jacobian of one layer at one state: dq'/dq = scale, dq'/dp = shear. */
typedef struct {
    @WORK@ scale[@M@_moves], shear[@M@_moves * @M@_passes];
} @M@_step;

/* A state, its unit coordinates z = S(x) in the learned world, y = psi(z), and the Jacobians of both. */
typedef struct {
    @WORK@ x[@M@_space], z[@M@_space], y[@M@_space];
    @M@_step steps[@M@_layers];
    @P@_seen seen;
} @M@_place;

static inline void @M@_at(int n, const @P@_world *world, const @WORK@ *x, @M@_place *at)
{
    enum { D = @M@_space, F = @M@_features, P = @M@_passes, M = @M@_moves };
    @WORK@ *y = at->y;
    for (int i = 0; i < D; ++i) y[i] = at->x[i] = x[i];
    @P@_enter(world, @WAY@, @KNEE@, y, &at->seen);
    for (int i = 0; i < D; ++i) at->z[i] = y[i] = ((y[i] - @M@_centre[n][i]) - @M@_centre_rest[n][i]) / @M@_scale[n][i];
    for (int l = 0; l < @M@_layers; ++l) {
        const unsigned short *order = @M@_order[l]; /* passing, then moving coordinates */
        @WORK@ half[F], cosine[F], sine[F], out[2 * M] = {0}, slope[P][2 * M] = {{0}}, turned[D];
        for (int f = 0; f < F; ++f) {
            @WORK@ angle = 0;
            for (int i = 0; i < P; ++i) angle += @M@_frequencies[n][l][f][i] * y[order[i]];
            half[f] = angle / 2;
        }
        @P@_turn(half, cosine, sine, F);
        for (int f = 0; f < F; ++f) { /* sums of waves, and their slopes */
            const @WORK@ *tc = @M@_cosines[n][l][f], *ts = @M@_sines[n][l][f], c = cosine[f], s = sine[f];
            @WORK@ rate[2 * M];
            for (int r = 0; r < 2 * M; ++r) {
                out[r] += tc[r] * c + ts[r] * s;
                rate[r] = ts[r] * c - tc[r] * s;
            }
            for (int i = 0; i < P; ++i) {
                for (int r = 0; r < 2 * M; ++r) slope[i][r] += rate[r] * @M@_frequencies[n][l][f][i];
            }
        }
        for (int i = 0; i < D; ++i) turned[i] = y[order[i]];
        @M@_moved(&@M@_window[n], turned, out, slope[0], turned, at->steps[l].scale, at->steps[l].shear);
        for (int i = 0; i < D; ++i) y[order[i]] = turned[i];
    }
}

/* w = J^-1 w, by substitution from the last layer to the first. */
static inline void @M@_pull(const @M@_place *at, @WORK@ *w)
{
    @WORK@ turned[@M@_space];
    for (int l = @M@_layers - 1; l >= 0; --l) {
        const unsigned short *order = @M@_order[l];
        for (int i = 0; i < @M@_space; ++i) turned[i] = w[order[i]];
        @M@_pulled(at->steps[l].scale, at->steps[l].shear, turned, turned);
        for (int i = 0; i < @M@_space; ++i) w[order[i]] = turned[i];
    }
}

/* s(z) > 0. */
static inline @WORK@ @M@_speed(int n, const @WORK@ *z)
{
    enum { D = @M@_space, G = @M@_speed_features };
    @WORK@ half[G], cosine[G], sine[G], sum = 0, within;
    for (int g = 0; g < G; ++g) {
        half[g] = 0;
        for (int i = 0; i < D; ++i) half[g] += @M@_speed_frequencies[n][g][i] * z[i] / 2;
    }
    @P@_turn(half, cosine, sine, G);
    for (int g = 0; g < G; ++g) sum += @M@_speed_cosines[n][g] * cosine[g] + @M@_speed_sines[n][g] * sine[g];
    @M@_within(&@M@_speed_window[n], z, &within);
    return exp@f@(within * sum + @M@_speed_offset[n]);
}

/* w = DS^-1 J^-1 w: what a small latent step is in the world. */
static inline void @M@_back(int n, const @P@_world *world, const @M@_place *at, @WORK@ *w)
{
    @M@_pull(at, w);
    for (int i = 0; i < @M@_space; ++i) w[i] *= @M@_scale[n][i];
    const @WORK@ clock = @P@_carry(world, &at->seen, w);
    for (int i = 0; i < @P@_warped; ++i) w[i] /= clock;
}

/* w = m c DS^-1 J^-1 w: a latent velocity as one of the world, braked; returns m, and c, by both of which the clock runs. */
static inline @WORK@ @M@_finish(int n, const @P@_world *world, const @M@_place *at, @WORK@ *w, @WORK@ *c)
{
    enum { D = @M@_space, N = @P@_warped };
    @WORK@ here[N], m;
    @M@_pull(at, w);
    for (int i = 0; i < N; ++i) here[i] = w[i] * @M@_scale[n][i];
    const @WORK@ clock = @P@_carry(world, &at->seen, here);
    for (int i = 0; i < D; ++i) w[i] = i < N ? here[i] / @M@_scale[n][i] : clock * w[i];
    @M@_braked(@M@_brake[n], @M@_gain[n], w, w, &m);
    const @WORK@ share = @P@_slow(world, &at->seen, w);
    for (int i = N; i < D; ++i) w[i] *= share;
    *c = clock;
    return m * share;
}

/* u of attractor `only` alone, or of all of the map for -1. */
static inline void @M@_heading(int n, int only, const @WORK@ *y, @WORK@ *u)
{
#if @ALL@
    if (only < 0) {
        @P@_drawn(y, u);
        return;
    }
#endif
    @M@_alone(@M@_well[n][only], &@M@_softening[n][only], &@M@_window[n], @M@_swirl[n][only][0], y, u);
}

/* xdot = m c s DS^-1 J^-1 u. */
static inline void @M@_velocity(int n, int only, const @P@_world *world, const @REAL@ *x, @REAL@ *v)
{
    enum { D = @M@_space };
    @WORK@ place[D], u[D], clock;
    @M@_place at;
    for (int i = 0; i < D; ++i) place[i] = (@WORK@)x[i];
    @M@_at(n, world, place, &at);
    @M@_heading(n, only, at.y, u);
    const @WORK@ speed = @M@_speed(n, at.z);
    for (int i = 0; i < D; ++i) u[i] *= speed;
    (void)@M@_finish(n, world, &at, u, &clock);
    for (int i = 0; i < D; ++i) v[i] = (@REAL@)u[i];
}

/* Where y is in the world, to first order, from a place nearby. */
static inline void @M@_towards(int n, const @P@_world *world, const @M@_place *at, const @WORK@ *y, @WORK@ *x)
{
    @WORK@ w[@M@_space];
    for (int i = 0; i < @M@_space; ++i) w[i] = y[i] - at->y[i];
    @M@_back(n, world, at, w);
    for (int i = 0; i < @M@_space; ++i) x[i] = at->x[i] + w[i];
}

/* The place whose latent one is y, up to one more step of Newton's method, from one nearby; by places between where it does not
 * settle at once. Returns 0 where there is none. */
static inline int @M@_found(int n, const @P@_world *world, @M@_place *at, const @WORK@ *y)
{
    enum { D = @M@_space };
    const @M@_place from = *at;
    @M@_place last = from;
    @WORK@ done = 0, part = 1;
    while (part > @SHORTEST@) {
        @WORK@ goal[D], x[D], far = (@WORK@)HUGE_VAL;
        for (int i = 0; i < D; ++i) goal[i] = done + part < 1 ? from.y[i] + (done + part) * (y[i] - from.y[i]) : y[i];
        for (int turn = 0; turn <= @NEWTON@ && far >= @NEAR@; ++turn) {
            if (turn > 0) {
                @M@_towards(n, world, at, goal, x);
                @M@_at(n, world, x, at);
            }
            far = 0;
            for (int i = 0; i < D; ++i) far = fabs@f@(goal[i] - at->y[i]) <= far ? far : fabs@f@(goal[i] - at->y[i]);
        }
        if (far < @NEAR@) {
            done += part;
            if (done >= 1) return 1;
            last = *at;
        } else { /* NaN too */
            *at = last;
            part /= 2;
        }
    }
    return 0;
}
