
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

/* The lifted state (x, phase) as C calculates with it. */
static inline void @P@_motion_at(const @P@_world *world, const @P@_motion *motion, const @REAL@ *x, @P@_lifted_place *at)
{
    @WORK@ z[@P@_dimension + 1];
    for (int i = 0; i < @P@_dimension; ++i) z[i] = (@WORK@)x[i];
    z[@P@_dimension] = motion->phase;
    @P@_lifted_at(motion->goal, world, z, at);
}

/* Begin at x towards a goal with a phase from 1 to 0. Returns 1, or 0 for a goal or a phase that does not exist. */
static inline int @P@_motion_begin_at_in(const @P@_world *world, @P@_motion *motion, int goal, @REAL@ phase, const @REAL@ *x)
{
    @P@_lifted_place at;
    if (goal < 0 || goal >= @P@_attractor_count || !(phase >= 0 && phase <= 1) || !@P@_known(x)) return 0;
    motion->goal = goal;
    motion->phase = (@WORK@)phase;
    motion->rate = 0;
    motion->begun = 0;
    @P@_motion_at(world, motion, x, &at);
    @P@_headed(@P@_lifted_well[goal][0], at.y, motion->heading, &motion->radius);
    return 1;
}

/* Begin at x, with goal and phase of the sample that is nearest, early ones preferred. */
static inline int @P@_motion_begin_in(const @P@_world *world, @P@_motion *motion, const @REAL@ *x)
{
    @WORK@ distance;
    const int at = @P@_nearest(world, x, -1, @P@_phase, &distance);
    return @P@_motion_begin_at_in(world, motion, (int)@P@_label[at], @P@_phase[at], x);
}

/* w = c s u + k tau,  c = 1 / (1 + (|tau| / width)^2): the field, slowed while the state is off its path, and a turn tau,
 * perpendicular to y, that brings it back; as much less of it as the clock runs faster, where the learned world is stretched.
 * Returns s. */
static inline @WORK@ @P@_motion_law(const @P@_world *world, const @P@_motion *motion, const @P@_lifted_place *at, @WORK@ *w)
{
    const int n = motion->goal;
    const @WORK@ speed = @P@_lifted_speed(n, at->z);
    @WORK@ drawn[@P@_dimension + 1], clock;
    @P@_lifted_heading(n, 0, at->y, drawn);
    for (int i = 0; i <= @P@_dimension; ++i) drawn[i] *= speed;
    (void)@P@_lifted_finish(n, world, at, drawn, &clock);
    @P@_law(@P@_lifted_well[n][0], @P@_lifted_softening[n], &@P@_lifted_window[n], @P@_lifted_swirl[n][0][0], at->y, &speed,
            motion->heading, &motion->radius, &clock, @P@_wind_rate[n], @P@_wind_re[n][0], @P@_wind_im[n][0], w);
    return speed;
}

/* Of the last step only the share that was seen moves the phase: a robot that is held keeps it. Returns 0 for a dt that is not
 * above 0. */
static inline int @P@_motion_credit(@P@_motion *motion, const @REAL@ *x, @REAL@ dt)
{
    if (!(dt > 0) || !isfinite(dt)) return 0;
    if (motion->begun) {
        @WORK@ moved[@P@_dimension], credit;
        for (int i = 0; i < @P@_dimension; ++i) moved[i] = (@WORK@)x[i] - motion->last[i];
        @P@_credited(motion->asked, &motion->dt, moved, @P@_lifted_scale[motion->goal], &credit);
        motion->phase += credit * motion->dt * motion->rate;
    }
    return 1;
}

/* What was asked at x for the next dt: the lifted velocity w. */
static inline void @P@_motion_keep(@P@_motion *motion, const @REAL@ *x, @REAL@ dt, const @WORK@ *w)
{
    for (int i = 0; i < @P@_dimension; ++i) {
        motion->last[i] = (@WORK@)x[i];
        motion->asked[i] = w[i];
    }
    motion->rate = isnan(w[@P@_dimension]) ? 0 : w[@P@_dimension];
    motion->dt = (@WORK@)dt;
    motion->begun = 1;
}

/* Coordinate i of where it goes; the last one is the phase. */
static inline @WORK@ @P@_motion_goal(const @P@_world *world, const @P@_motion *motion, int i)
{
    const int n = motion->goal;
    if (i == @P@_dimension) return @P@_rest_phase[n];
    return i < @P@_warped ? world->goal[n][i < @P@_warped ? i : 0] : (@WORK@)@P@_attractors[n][i] + @P@_attractor_rest[n][i];
}

/* Of a lifted velocity w so much that a step of dt is no longer than what is left of the way: a loop at a low rate does not run
 * past its goal, to and fro, for ever. */
static inline void @P@_motion_shorten(const @P@_world *world, const @P@_motion *motion, const @REAL@ *x, @REAL@ dt, @WORK@ *w)
{
    const @WORK@ span = (@WORK@)dt;
    @WORK@ left[@P@_dimension + 1];
    for (int i = 0; i < @P@_dimension; ++i) left[i] = @P@_motion_goal(world, motion, i) - (@WORK@)x[i];
    left[@P@_dimension] = @P@_rest_phase[motion->goal] - motion->phase;
    @P@_shortened(w, &span, left, @P@_lifted_scale[motion->goal], w);
}

/* The velocity to move with for the next dt > 0 at the measured state x; carries the phase. Returns 1, or 0 with NaN in v
 * for a dt that is not above 0. */
static inline int @P@_motion_step_in(const @P@_world *world, @P@_motion *motion, const @REAL@ *x, @REAL@ dt, @REAL@ *v)
{
    enum { D = @P@_dimension };
    const int n = motion->goal, asked = @P@_motion_credit(motion, x, dt);
    const int rests = @P@_known(x) && @P@_at_rest(n, world, x) && motion->phase == @P@_rest_phase[n];
    @WORK@ w[D + 1] = {0}, clock;
    @P@_lifted_place at;
    if (asked && !rests) {
        @P@_motion_at(world, motion, x, &at);
        (void)@P@_motion_law(world, motion, &at, w);
        (void)@P@_lifted_finish(n, world, &at, w, &clock);
        @P@_motion_shorten(world, motion, x, dt, w);
    }
    for (int i = 0; i < D; ++i) v[i] = asked ? (@REAL@)w[i] : (@REAL@)NAN;
    if (asked) @P@_motion_keep(motion, x, dt, w);
    return asked;
}

/* Where to be after dt > 0, from the measured state x: the same law along its true solution, by Runge-Kutta 4 in the latent
 * space, for robots that are told positions. Returns 1, or 0 as _advance does. */
static inline int @P@_motion_advance_in(const @P@_world *world, @P@_motion *motion, const @REAL@ *x, @REAL@ dt, @REAL@ *next)
{
    enum { D = @P@_dimension + 1 };
    static const @WORK@ part[4] = {0, 0.5@f@, 0.5@f@, 1}, share[4] = {1, 2, 2, 1};
    const int n = motion->goal;
    const @WORK@ whole = (@WORK@)dt * @P@_lifted_pace[n], *goal = @P@_lifted_well[n][0];
    @WORK@ y[D], target[D], after[D], clock, left = whole;
    @P@_lifted_place at;
    int there = @P@_motion_credit(motion, x, dt) && @P@_known(x);
    for (int i = 0; i < D - 1; ++i) next[i] = there ? x[i] : (@REAL@)NAN;
    if (!there) return 0;
    @P@_motion_at(world, motion, x, &at);
    const @P@_lifted_place begin = at;
    for (int i = 0; i < D; ++i) y[i] = at.y[i];
    while (left > 0 && there) {
        @WORK@ slope[4][D], step = left, square = @TINY@;
        for (int i = 0; i < D; ++i) square += (y[i] - goal[i]) * (y[i] - goal[i]);
        if (!(sqrt@f@(square) > @AT_REST@)) break;
        for (int k = 0; k < 4 && there; ++k) {
            @WORK@ w[D];
            for (int i = 0; i < D; ++i) target[i] = y[i] + (k ? step * part[k] * slope[k - 1][i] : 0);
            there = @P@_lifted_found(n, world, &at, target);
            const @WORK@ speed = @P@_motion_law(world, motion, &at, slope[k]);
            for (int i = 0; i < D; ++i) w[i] = slope[k][i];
            const @WORK@ slowed = @P@_lifted_finish(n, world, &at, w, &clock), m = slowed * clock;
            for (int i = 0; i < D; ++i) slope[k][i] *= m;
            if (k == 0) { /* how fast y / R and R change at most */
                const @WORK@ rate = m * (@RETURN@ + @P@_lifted_turning[n] * speed / (sqrt@f@(square) + @P@_lifted_softening[n][0]));
                step = @CHANGE@ / rate > whole / @MOST@ ? @CHANGE@ / rate : whole / @MOST@;
                step = step < left ? step : left;
            }
        }
        for (int k = 0; k < 4; ++k) {
            for (int i = 0; i < D; ++i) y[i] += step / 6 * share[k] * slope[k][i];
        }
        left -= step;
    }
    if (!there || !@P@_lifted_found(n, world, &at, y)) {
        (void)@P@_motion_law(world, motion, &begin, after);
        (void)@P@_lifted_finish(n, world, &begin, after, &clock);
        @P@_motion_keep(motion, x, dt, after);
        for (int i = 0; i < D - 1; ++i) next[i] = x[i] + dt * (@REAL@)after[i];
        return 0;
    }
    @P@_lifted_towards(n, world, &at, y, after);
    for (int i = 0; i < D; ++i) {
        if (i < D - 1) next[i] = (@REAL@)after[i];
        after[i] = (after[i] - (i < D - 1 ? (@WORK@)x[i] : motion->phase)) / (@WORK@)dt;
    }
    @P@_motion_keep(motion, x, dt, after);
    return 1;
}

/* 1 once the last state was within a hundredth of the box of the goal, with nothing left of the path. */
static inline int @P@_motion_done_in(const @P@_world *world, const @P@_motion *motion)
{
    @WORK@ square = 0;
    for (int i = 0; i < @P@_dimension; ++i) {
        const @WORK@ away = (motion->last[i] - @P@_motion_goal(world, motion, i)) / @P@_lifted_scale[motion->goal][i];
        square += away * away;
    }
    return motion->begun && square < @DONE@ * @DONE@ && motion->phase < 10 * @DONE@ && motion->phase > -10 * @DONE@;
}
