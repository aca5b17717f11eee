
/* --- motions: with memory --- */

#define @P@_HAS_MOTION 1

typedef struct {
    int goal;           /* where it goes */
    @WORK@ phase;       /* share of the path still to go: 1 at the start, 0 at the goal */
    @WORK@ rate;        /* of the phase, as last asked */
    @WORK@ heading[@P@_dimension + 1], radius; /* of the latent path it keeps to */
    @WORK@ last[@P@_dimension], asked[@P@_dimension], dt; /* the last step */
    int begun;
} @P@_motion;

/* Begin at x towards a goal with a phase from 1 to 0. Returns 1, or 0 for a goal or a phase that does not exist. */
static inline int @P@_motion_begin_at_in(const @P@_world *world, @P@_motion *motion, int goal, @REAL@ phase, const @REAL@ *x)
{
    enum { D = @P@_dimension + 1 };
    @WORK@ z[D], y[D], square = 0;
    @P@_lifted_step steps[@P@_lifted_layers];
    if (goal < 0 || goal >= @P@_attractor_count || !(phase >= 0 && phase <= 1) || !@P@_known(x)) return 0;
    motion->goal = goal;
    motion->phase = (@WORK@)phase;
    motion->rate = 0;
    motion->begun = 0;
    @P@_seen seen;
    @P@_lifted_unit(goal, world, &seen, x, D - 1, z);
    z[D - 1] = ((@WORK@)phase - @P@_lifted_centre[goal][D - 1]) / @P@_lifted_scale[goal][D - 1];
    @P@_lifted_flow(goal, z, y, steps);
    for (int i = 0; i < D; ++i) {
        motion->heading[i] = y[i] - @P@_lifted_well[goal][0][i];
        square += motion->heading[i] * motion->heading[i];
    }
    motion->radius = sqrt@f@(square);
    for (int i = 0; i < D; ++i) motion->heading[i] /= motion->radius > 0 ? motion->radius : 1;
    return 1;
}

static inline int @P@_motion_begin_at(@P@_motion *motion, int goal, @REAL@ phase, const @REAL@ *x)
{
    return @P@_motion_begin_at_in(&@P@_home, motion, goal, phase, x);
}

/* Begin at x, with goal and phase of the sample that is nearest, early ones preferred. */
static inline int @P@_motion_begin_in(const @P@_world *world, @P@_motion *motion, const @REAL@ *x)
{
    @WORK@ distance;
    const int at = @P@_nearest(world, x, -1, @P@_phase, &distance);
    return @P@_motion_begin_at_in(world, motion, (int)@P@_label[at], @P@_phase[at], x);
}

static inline int @P@_motion_begin(@P@_motion *motion, const @REAL@ *x)
{
    return @P@_motion_begin_in(&@P@_home, motion, x);
}

/* aim = exp(Omega ln(r / r0)) heading, by the eigenvectors of i Omega. */
static inline void @P@_wind(int n, const @WORK@ *heading, @WORK@ log_ratio, @WORK@ *aim)
{
    enum { D = @P@_dimension + 1 };
    for (int i = 0; i < D; ++i) aim[i] = @P@_winds[n] ? 0 : heading[i];
    for (int k = 0; k < D && @P@_winds[n]; ++k) {
        const @WORK@ c = cos@f@(log_ratio * @P@_wind_rate[n][k]), s = sin@f@(log_ratio * @P@_wind_rate[n][k]);
        @WORK@ re = 0, im = 0;
        for (int j = 0; j < D; ++j) {
            re += heading[j] * @P@_wind_re[n][j][k];
            im -= heading[j] * @P@_wind_im[n][j][k];
        }
        for (int i = 0; i < D; ++i) {
            aim[i] += (re * c + im * s) * @P@_wind_re[n][i][k] - (im * c - re * s) * @P@_wind_im[n][i][k];
        }
    }
}

/* The velocity to move with for the next dt > 0 at the measured state x; carries the phase. Returns 1, or 0 with NaN in v
 * for a dt that is not above 0.
 *
 * zdot = m J^-1 (-c s (I + Omega) y / (|y| + epsilon) + k tau),  c = 1 / (1 + (|tau| / width)^2): the field, slowed while
 * the state is off its path, and a turn tau, perpendicular to y, that brings it back. Of the last step only the share that
 * was seen moves the phase: a robot that is held keeps it. */
static inline int @P@_motion_step_in(const @P@_world *world, @P@_motion *motion, const @REAL@ *x, @REAL@ dt, @REAL@ *v)
{
    enum { D = @P@_dimension + 1 };
    const int n = motion->goal;
    @WORK@ z[D], y[D], u[D], aim[D], tau[D], square = @TINY@, along = 0, off = 0;
    @P@_lifted_step steps[@P@_lifted_layers];
    if (!(dt > 0) || !isfinite(dt)) {
        for (int i = 0; i < D - 1; ++i) v[i] = (@REAL@)NAN;
        return 0;
    }
    if (motion->begun) {
        @WORK@ length = 0, seen = 0;
        for (int i = 0; i < D - 1; ++i) {
            const @WORK@ scale = @P@_lifted_scale[n][i], asked = motion->dt * motion->asked[i] / scale;
            length += asked * asked;
            seen += ((@WORK@)x[i] - motion->last[i]) / scale * asked;
        }
        @WORK@ credit = length > 0 ? seen / length : 1;
        credit = credit > 0 ? (credit < 1 ? credit : 1) : 0;
        motion->phase += credit * motion->dt * motion->rate;
    }
    @P@_seen seen;
    @P@_lifted_unit(n, world, &seen, x, D - 1, z);
    z[D - 1] = (motion->phase - @P@_lifted_centre[n][D - 1]) / @P@_lifted_scale[n][D - 1];
    @P@_lifted_flow(n, z, y, steps);
    for (int i = 0; i < D; ++i) {
        y[i] -= @P@_lifted_well[n][0][i];
        square += y[i] * y[i];
    }
    const @WORK@ r = sqrt@f@(square);
    @P@_wind(n, motion->heading, motion->radius > 0 ? log@f@(r / motion->radius) : 0, aim);
    for (int i = 0; i < D; ++i) along += aim[i] * y[i];
    for (int i = 0; i < D; ++i) {
        tau[i] = r * aim[i] - along / r * y[i];
        off += tau[i] * tau[i] / (@WIDTH@ * @WIDTH@);
    }
    const @WORK@ factor = -@P@_lifted_speed(n, z) / (1 + off) / (r + @P@_lifted_softening[n][0]);
    for (int i = 0; i < D; ++i) {
        u[i] = y[i];
        for (int j = 0; j < D; ++j) u[i] += @P@_lifted_swirl[n][0][i][j] * y[j];
    }
    for (int i = 0; i < D; ++i) u[i] = factor * u[i] + @RETURN@ * tau[i];
    @P@_lifted_pull(steps, u);
    @P@_lifted_limit(n, world, &seen, u);
    if (@P@_known(x) && @P@_at_rest(n, world, x) && motion->phase == @P@_rest_phase[n]) {
        for (int i = 0; i < D; ++i) u[i] = 0;
    }
    for (int i = 0; i < D - 1; ++i) {
        v[i] = (@REAL@)u[i];
        motion->last[i] = (@WORK@)x[i];
        motion->asked[i] = u[i];
    }
    motion->rate = isnan(u[D - 1]) ? 0 : u[D - 1];
    motion->dt = (@WORK@)dt;
    motion->begun = 1;
    return 1;
}

static inline int @P@_motion_step(@P@_motion *motion, const @REAL@ *x, @REAL@ dt, @REAL@ *v)
{
    return @P@_motion_step_in(&@P@_home, motion, x, dt, v);
}

/* 1 once the last state was within a hundredth of the box of the goal, with nothing left of the path. */
static inline int @P@_motion_done_in(const @P@_world *world, const @P@_motion *motion)
{
    @WORK@ square = 0;
    for (int i = 0; i < @P@_dimension; ++i) {
        const @WORK@ known = (@WORK@)@P@_attractors[motion->goal][i] + @P@_attractor_rest[motion->goal][i];
        const @WORK@ place = i < @P@_warped ? world->goal[motion->goal][i < @P@_warped ? i : 0] : known;
        const @WORK@ away = (motion->last[i] - place) / @P@_lifted_scale[motion->goal][i];
        square += away * away;
    }
    return motion->begun && square < @DONE@ * @DONE@ && motion->phase < 10 * @DONE@ && motion->phase > -10 * @DONE@;
}

static inline int @P@_motion_done(const @P@_motion *motion)
{
    return @P@_motion_done_in(&@P@_home, motion);
}
