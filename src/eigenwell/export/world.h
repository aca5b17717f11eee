
/* --- the world: goals elsewhere, walls, things in the way --- */

enum {
    @P@_warped = @N@,         /* coordinates that warps act on: all, or positions */
    @P@_passed = @PASSED@,    /* places that are passed */
    @P@_ways = @WAYS@,        /* the map, and where there are several goals each of them alone */
    @P@_most_steps = @STEPS@,
    @P@_most_marks = @P@_attractor_count + @P@_passed,
    @P@_places = @P@_most_steps * (@P@_most_marks + (@P@_ways - 1) * (1 + @P@_passed)),
    @P@_most_bodies = @BODIES@
};

/* An affine map and a flow that take goals and places passed to where they are: S(x) = steps(matrix x + shift). */
typedef struct {
    @WORK@ matrix[@P@_warped][@P@_warped], shift[@P@_warped], length[@P@_warped];
    int marks, steps, first; /* of each step's landmarks in `path` and `force` */
} @P@_way;

/* What the field is seen through. Begin with a copy of @P@_home, set goals, bodies and walls, and call @P@_world_ready:
 * nothing is allocated, and it takes microseconds. Walls are -HUGE_VAL and HUGE_VAL where open; a ball has 1 / radius on the
 * diagonal of its shape. */
typedef struct {
    @WORK@ goal[@P@_attractor_count][@P@_warped];
    int bodies;
    @WORK@ centre[@P@_most_bodies][@P@_warped], shape[@P@_most_bodies][@P@_warped][@P@_warped];
    @WORK@ low[@P@_warped], high[@P@_warped];
    /* From here on what @P@_world_ready makes. */
    int walls, groups, moved;
    @WORK@ margin[2][@P@_warped], braking;
    int first[@P@_most_bodies], last[@P@_most_bodies]; /* bodies of a group */
    @WORK@ middle[@P@_most_bodies][@P@_warped], reach[@P@_most_bodies];
    @P@_way way[@P@_ways];
    @WORK@ path[@P@_places][@P@_warped], force[@P@_places][@P@_warped];
} @P@_world;

@TABLES@

static const @P@_world @P@_home = @HOME@;

/* DS at one state: of walls, of what keeps the field home, of bodies, and of goals that are elsewhere. */
typedef struct {
    @WORK@ walls[4 * @P@_warped], soft[@P@_warped], body[@P@_most_bodies][2 * @P@_warped + 4];
    @WORK@ jacobian[@P@_warped * @P@_warped];
} @P@_seen;

@KERNELS@
/* Gaussian elimination, `columns` right hand sides in place. Returns the determinant, 0 where there is no answer. */
static inline @WORK@ @P@_solve(int n, @WORK@ *a, int columns, @WORK@ *b)
{
    @WORK@ determinant = 1;
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i) pivot = fabs@f@(a[i * n + k]) > fabs@f@(a[pivot * n + k]) ? i : pivot;
        if (!(fabs@f@(a[pivot * n + k]) > 0)) return 0;
        if (pivot != k) {
            determinant = -determinant;
            for (int j = 0; j < n; ++j) {
                const @WORK@ kept = a[k * n + j];
                a[k * n + j] = a[pivot * n + j];
                a[pivot * n + j] = kept;
            }
            for (int j = 0; j < columns; ++j) {
                const @WORK@ kept = b[k * columns + j];
                b[k * columns + j] = b[pivot * columns + j];
                b[pivot * columns + j] = kept;
            }
        }
        determinant *= a[k * n + k];
        for (int i = 0; i < n; ++i) {
            if (i == k) continue;
            const @WORK@ share = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; ++j) a[i * n + j] -= share * a[k * n + j];
            for (int j = 0; j < columns; ++j) b[i * columns + j] -= share * b[k * columns + j];
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < columns; ++j) b[i * columns + j] /= a[i * n + i];
    }
    return determinant;
}

/* a b, or with `across` the product of a's transpose and b. */
static inline void @P@_product(int across, const @WORK@ *a, const @WORK@ *b, @WORK@ *out)
{
    enum { N = @P@_warped };
    @WORK@ sum[N * N] = {0};
    for (int i = 0; i < N * N; ++i) {
        for (int k = 0; k < N; ++k) sum[i] += (across ? a[k * N + i / N] : a[i / N * N + k]) * b[k * N + i % N];
    }
    for (int i = 0; i < N * N; ++i) out[i] = sum[i];
}

/* The gauge of a group of bodies, 1 on its surface, and its gradient. */
static inline @WORK@ @P@_gauge(const @P@_world *world, int group, const @WORK@ *away, @WORK@ *slope)
{
    const @WORK@ *middle = world->middle[group];
    @WORK@ tau, own, its[@P@_warped];
    int m = world->first[group];
    @P@_gauge_of(middle, world->centre[m], world->shape[m][0], away, &tau, slope);
    for (++m; m < world->last[group]; ++m) {
        @P@_gauge_of(middle, world->centre[m], world->shape[m][0], away, &own, its);
        @P@_joined(&tau, slope, &own, its, &tau, slope);
    }
    return tau;
}

/* x = S(x): from the world to the learned one, of the map (0) or of goal n alone (n + 1); and with a knee stretched beyond the
 * data, which keeps the field home. */
static inline void @P@_enter(const @P@_world *world, int way, const @WORK@ *knee, @WORK@ *x, @P@_seen *seen)
{
    enum { N = @P@_warped };
    if (world->walls) @P@_within_through(x, world->low, world->high, world->margin[0], &world->braking, x, seen->walls);
    for (int g = 0; g < world->groups; ++g) {
        @WORK@ away[N], slope[N];
        for (int i = 0; i < N; ++i) away[i] = x[i] - world->middle[g][i];
        @P@_aside(away, away);
        const @WORK@ tau = @P@_gauge(world, g, away, slope);
        @P@_around_through(away, &tau, slope, world->middle[g], &world->reach[g], x, seen->body[g]);
    }
    if (world->moved) {
        const @P@_way *by = &world->way[way < @P@_ways ? way : 0];
        @P@_affine(x, by->matrix[0], by->shift, x, seen->jacobian);
        for (int s = 0; s < by->steps; ++s) {
            @WORK@ to[N], step[N * N];
            for (int i = 0; i < N; ++i) to[i] = x[i];
            for (int i = 0; i < N * N; ++i) step[i] = i % (N + 1) == 0;
            for (int m = by->first + s * by->marks; m < by->first + (s + 1) * by->marks; ++m) {
                @P@_nudged(x, world->path[m], world->force[m], by->length, to, step, to, step);
            }
            for (int i = 0; i < N; ++i) x[i] = to[i];
            @P@_product(0, step, seen->jacobian, seen->jacobian);
        }
    }
#if @SOFT@
    for (int i = 0; i < N; ++i) seen->soft[i] = 1;
    if (knee) @P@_stretch_through(x, @P@_soft_low, @P@_soft_high, @P@_soft_margin[0], knee, x, seen->soft);
#else
    (void)knee;
#endif
}

/* v = c DS^-1 v: a velocity of the learned world as one of this. Returns c, by which the clock runs. */
static inline @WORK@ @P@_carry(const @P@_world *world, const @P@_seen *seen, @WORK@ *v)
{
    enum { N = @P@_warped };
    @WORK@ clock = 1, c;
#if @SOFT@
    @P@_stretch_carry(v, seen->soft, v, &clock);
#endif
    if (world->moved) {
        @WORK@ a[N * N];
        for (int i = 0; i < N * N; ++i) a[i] = seen->jacobian[i];
        (void)@P@_solve(N, a, 1, v);
    }
    for (int g = world->groups - 1; g >= 0; --g) {
        @P@_around_carry(v, seen->body[g], v, &c);
        clock *= c;
    }
    if (world->walls) {
        @P@_within_carry(v, seen->walls, v, &c);
        clock *= c;
    }
    return clock;
}

/* Walls and bodies brake v, which is no faster than the limit, and take it back from their wrong side. Returns the share of
 * the clock that is left. */
static inline @WORK@ @P@_slow(const @P@_world *world, const @P@_seen *seen, @WORK@ *v)
{
    enum { N = @P@_warped };
    @WORK@ slow = 1, share, back[N] = {0}, more[N];
    if (world->walls) @P@_within_brake(v, seen->walls, &slow, back);
    for (int g = 0; g < world->groups; ++g) {
        @P@_around_brake(v, seen->body[g], &share, more);
        slow = share < slow ? share : slow;
        for (int i = 0; i < N; ++i) back[i] += more[i];
    }
    @P@_returning(v, &slow, back, v, &slow);
    return slow;
}

/* (A^T A)^-1 of the shape A of a body. Returns 0 where it has none. */
static inline int @P@_wide(const @P@_world *world, int m, @WORK@ *wide)
{
    @WORK@ gram[@P@_warped * @P@_warped];
    @P@_product(1, world->shape[m][0], world->shape[m][0], gram);
    for (int i = 0; i < @P@_warped * @P@_warped; ++i) wide[i] = i % (@P@_warped + 1) == 0;
    return fabs@f@(@P@_solve(@P@_warped, gram, @P@_warped, wide)) > 0;
}

/* By how much two bodies can grow until they touch (Perram and Wertheim), below 1 where they overlap. */
static inline @WORK@ @P@_contact(const @P@_world *world, int a, int b)
{
    enum { N = @P@_warped };
    @WORK@ wide[2][N * N], low = 0, high = 1, height = 0;
    if (!@P@_wide(world, a, wide[0]) || !@P@_wide(world, b, wide[1])) return 0;
    for (int turn = 0; turn < 32; ++turn) { /* golden section of a concave function */
        const @WORK@ step = @GOLDEN@ * (high - low), at[2] = {high - step, low + step};
        @WORK@ found[2] = {0};
        for (int k = 0; k < 2; ++k) {
            @WORK@ mixed[N * N], answer[N];
            for (int i = 0; i < N * N; ++i) mixed[i] = (1 - at[k]) * wide[0][i] + at[k] * wide[1][i];
            for (int i = 0; i < N; ++i) answer[i] = world->centre[a][i] - world->centre[b][i];
            if (@P@_solve(N, mixed, 1, answer) == 0) return 0;
            for (int i = 0; i < N; ++i) found[k] += at[k] * (1 - at[k]) * (world->centre[a][i] - world->centre[b][i]) * answer[i];
        }
        height = found[0] > found[1] ? found[0] : found[1];
        if (found[0] > found[1]) high = at[1];
        else low = at[0];
    }
    return sqrt@f@(height);
}

/* Layers of walls and bodies, apart from goals and from each other. Returns 0 where there is no room. */
static inline int @P@_arranged(@P@_world *world)
{
    enum { N = @P@_warped };
    world->walls = 0;
    world->braking = 0;
    for (int i = 0; i < N; ++i) {
        const @WORK@ width = world->high[i] - world->low[i];
        const @WORK@ most = @MARGIN@ * (isfinite(width) ? width : @P@_box[i]);
        world->margin[0][i] = world->margin[1][i] = most;
        for (int q = 0; q < @P@_attractor_count; ++q) {
            const @WORK@ room[2] = {world->goal[q][i] - world->low[i], world->high[i] - world->goal[q][i]};
            for (int k = 0; k < 2; ++k) {
                if (!(room[k] > 0)) return 0;
                if (room[k] < world->margin[k][i]) world->margin[k][i] = room[k];
            }
        }
        world->walls |= isfinite(world->low[i]) || isfinite(world->high[i]);
        const @WORK@ near = most < @MARGIN@ * @P@_box[i] ? most : @MARGIN@ * @P@_box[i];
        if (near > world->braking) world->braking = near;
    }
    if (world->bodies < 0 || world->bodies > @P@_most_bodies) return 0;
    world->groups = world->bodies;
    for (int m = 0; m < world->bodies; ++m) {
        @WORK@ away[N], slope[N], wide[N * N];
        world->first[m] = m;
        world->last[m] = m + 1;
        world->reach[m] = @REACH@;
        for (int i = 0; i < N; ++i) world->middle[m][i] = world->centre[m][i];
        for (int q = 0; q < @P@_attractor_count; ++q) {
            for (int i = 0; i < N; ++i) away[i] = world->goal[q][i] - world->centre[m][i];
            const @WORK@ tau = @P@_gauge(world, m, away, slope);
            if (!(tau >= world->reach[m])) world->reach[m] = tau;
        }
        if (!@P@_wide(world, m, wide)) return 0;
        for (int i = 0; i < N; ++i) {
            const @WORK@ half = sqrt@f@(wide[i * N + i]);
            const @WORK@ gap[2] = {world->centre[m][i] - half - world->low[i], world->high[i] - world->centre[m][i] - half};
            for (int k = 0; k < 2; ++k) {
                if (!(gap[k] > 0)) return 0;
                if (gap[k] / 2 < world->margin[k][i]) world->margin[k][i] = gap[k] / 2;
                if (1 + gap[k] / 2 / half < world->reach[m]) world->reach[m] = 1 + gap[k] / 2 / half;
            }
        }
        for (int k = 0; k < m; ++k) {
            const @WORK@ apart = @P@_contact(world, m, k);
            if (apart < world->reach[m]) world->reach[m] = apart;
            if (apart < world->reach[k]) world->reach[k] = apart;
        }
    }
    for (int m = 0; m < world->bodies; ++m) {
        if (!(world->reach[m] >= @THINNEST@)) return 0;
    }
    return 1;
}

/* One way: `marks` of goals and places passed, and its places from `first` on. Returns 0 where it would fold the space. */
static inline int @P@_way_ready(@P@_world *world, int way, int marks, const int *mark, int first)
{
    enum { N = @P@_warped, M = @P@_most_marks, Q = @P@_attractor_count };
    @P@_way *by = &world->way[way];
    @WORK@ to[M][N], left[M][N], delta[Q][N] = {{0}}, bend[N * N], drift[N], forward[N * N], back[N * N], off, farthest = 0;
    by->marks = marks;
    by->steps = 0;
    by->first = first;
    for (int m = 0; m < marks; ++m) {
        const int q = mark[m], goal = q < Q ? q : 0;
        for (int i = 0; i < N; ++i) to[m][i] = q < Q ? world->goal[goal][i] : @P@_mark_new[q < M ? q : 0][i];
        for (int i = 0; i < N && q < Q; ++i) delta[goal][i] = to[m][i] - @P@_mark_old[goal][i];
    }
    @P@_led(delta[0], @P@_lead_share[way], @P@_lead_slope[way][0], bend, drift);
    for (int turn = 0; turn < 60; ++turn) {
        @P@_unbent(bend, @P@_box, forward, back);
        const @WORK@ determinant = @P@_solve(N, forward, N, back);
        @P@_strength(back, &off);
        if (determinant > 0 && off <= @STRONGEST@) break;
        for (int i = 0; i < N * N; ++i) bend[i] *= 0.9@f@;
    }
    @P@_homeward(back, @P@_box, @P@_lead_middle[way], drift, by->matrix[0], by->shift);
    for (int m = 0; m < marks; ++m) {
        @P@_affine(to[m], by->matrix[0], by->shift, left[m], forward);
        for (int i = 0; i < N; ++i) {
            left[m][i] = @P@_mark_old[mark[m]][i] - left[m][i];
            if (fabs@f@(left[m][i] / @P@_box[i]) > farthest) farthest = fabs@f@(left[m][i] / @P@_box[i]);
        }
    }
    /* One goal is where it belongs by the affine map alone. */
    if (marks == 1 || !(farthest > @NOTHING@)) return 1;
    @WORK@ share = @LENGTH@;
    for (int shorter = 0; shorter < 6; ++shorter, share *= 0.7@f@) {
        int steps = 1;
        for (int i = 0; i < N; ++i) by->length[i] = share * @P@_box[i];
        while (steps <= @P@_most_steps) {
            @WORK@ steepest = 0;
            for (int s = 0; s < steps; ++s) {
                @WORK@ kernel[M * M], force[M * N], (*path)[N] = world->path + first + s * marks, steep = 0;
                for (int m = 0; m < marks; ++m) {
                    for (int i = 0; i < N; ++i) {
                        path[m][i] = @P@_mark_old[mark[m]][i] - left[m][i] + (@WORK@)s / (@WORK@)steps * left[m][i];
                        force[m * N + i] = left[m][i] / (@WORK@)steps;
                    }
                }
                for (int m = 0; m < marks * marks; ++m) {
                    @P@_near(path[m / marks], path[m % marks], by->length, &kernel[m]);
                    kernel[m] += m % (marks + 1) == 0 ? @NOTHING@ : 0;
                }
                if (@P@_solve(marks, kernel, N, force) == 0) return 0;
                for (int m = 0; m < marks; ++m) {
                    @P@_steep(force + m * N, by->length, &off);
                    for (int i = 0; i < N; ++i) world->force[first + s * marks + m][i] = force[m * N + i];
                    steep += off;
                }
                if (steep > steepest) steepest = steep;
            }
            if (steepest <= @STEEPEST@) {
                by->steps = steps;
                return 1;
            }
            if (!(steepest < 1e6@f@)) break;
            steps = 1 + (int)((@WORK@)steps * steepest / @STEEPEST@);
        }
    }
    return 0;
}

/* The affine maps and flows that take goals to where they are. Returns 0 where they would fold the space. */
static inline int @P@_landmarked(@P@_world *world)
{
    enum { N = @P@_warped, M = @P@_most_marks, Q = @P@_attractor_count, V = @P@_passed };
    int mark[M], fine = 1;
    world->moved = V > 0;
    for (int q = 0; q < Q; ++q) {
        for (int i = 0; i < N; ++i) world->moved |= world->goal[q][i] > @P@_mark_old[q][i] || world->goal[q][i] < @P@_mark_old[q][i];
    }
    for (int m = 0; m < M; ++m) mark[m] = m;
    if (world->moved) fine = @P@_way_ready(world, 0, M, mark, 0);
    for (int way = 1; way < @P@_ways && world->moved && fine; ++way) {
        mark[0] = way - 1;
        for (int m = 1; m <= V; ++m) mark[m] = Q + m - 1;
        fine = @P@_way_ready(world, way, 1 + V, mark, @P@_most_steps * (M + (way - 1) * (1 + V)));
    }
    return fine;
}

/* Make a world ready that goals, bodies and walls were set in. Returns 1; or 0, and it must not be used: a goal outside the
 * walls or in a body, bodies that touch a wall or each other, goals that change places in too little room. */
static inline int @P@_world_ready(@P@_world *world)
{
    return @P@_arranged(world) && @P@_landmarked(world);
}
