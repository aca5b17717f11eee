
/* --- along the solution: for robots that are told positions --- */

/* dt/dsigma at a place; 0 where nothing moves. */
static inline @WORK@ @P@_slowness(const @P@_world *world, const @P@_map_place *at)
{
    @WORK@ u[@P@_dimension], softened, left, clock;
    const @WORK@ speed = @P@_map_speed(0, at->z);
    @P@_drawn(at->y, u);
    @P@_softened(at->y, &softened, &left);
    if (!(left >= @AT_REST@)) return 0;
    for (int i = 0; i < @P@_dimension; ++i) u[i] *= speed;
    const @WORK@ m = @P@_map_finish(0, world, at, u, &clock);
    return softened / (m * clock * speed);
}

/* The state after dt > 0 along the solution itself: a loop on it ends where _basin says, at any rate. Returns 1; or 0 with NaN
 * for a dt that is not above 0, and 0 with an Euler step where the solution cannot be followed: inside what is gone round. */
static inline int @P@_advance_in(const @P@_world *world, const @REAL@ *x, @REAL@ dt, @REAL@ *next)
{
    enum { D = @P@_dimension };
    const @WORK@ longest = @LONGEST@;
    @WORK@ place[D], y[D], left = (@WORK@)dt * @PACE@;
    const @WORK@ whole = left;
    @REAL@ v[D];
    @P@_map_place here;
    const int asked = dt > 0 && isfinite(dt) && @P@_known(x);
    for (int i = 0; i < D; ++i) {
        next[i] = asked ? x[i] : (@REAL@)NAN;
        place[i] = (@WORK@)x[i];
    }
    if (!asked || @P@_at_rest(-1, world, x)) return asked;
    @P@_map_at(0, world, place, &here);
    @WORK@ begin = @P@_slowness(world, &here);
    for (int i = 0; i < D; ++i) y[i] = here.y[i];
    for (long k = 0; k < @MOST_STEPS@ && begin > 0 && left > @ON_TIME@ * whole; ++k) {
        @WORK@ ahead[D], rate[2] = {begin, begin}, sigma[2], step;
        int there = 1;
        for (int turn = 0; turn < 2 && there; ++turn) { /* about the middle of the step, and at its end */
            sigma[turn] = (left / rate[0] < longest ? left / rate[0] : longest) / (turn ? 1 : 2);
            @P@_advanced(y, &sigma[turn], ahead);
            there = @P@_map_found(0, world, &here, ahead);
            rate[turn] = there ? @P@_slowness(world, &here) : 0;
            there &= rate[turn] > 0 || turn > 0;
        }
        if (there) {
            @P@_clocked(&begin, &rate[0], &rate[1], &sigma[0], &sigma[1], &left, &longest, &step, &left);
            @P@_advanced(y, &step, y);
            begin = rate[1];
        }
        if (!there || !@P@_map_found(0, world, &here, y)) {
            @P@_velocity_in(world, x, v);
            for (int i = 0; i < D; ++i) next[i] = x[i] + dt * v[i];
            return 0;
        }
    }
    @P@_map_towards(0, world, &here, y, place);
    for (int i = 0; i < D; ++i) next[i] = (@REAL@)place[i];
    return 1;
}
