
/* --- poses: orientations as unit quaternions x, y, z, w --- */

#define @P@_HAS_POSES 1

@POSE_KERNELS@
/* The state of a pose. Returns 1, or 0 and NaN for an orientation half a turn away: nothing was learned there. */
static inline int @P@_state(const @REAL@ *position, const @REAL@ *quaternion, @REAL@ *x)
{
    @WORK@ q[4], w[3], angle;
    for (int i = 0; i < 4; ++i) q[i] = (@WORK@)quaternion[i];
    @P@_turned(q, w, &angle); /* q and -q are one orientation: the short way round */
    const int known = angle <= @EDGE@; /* no for NaN */
    for (int i = 0; i < @P@_dimension - 3; ++i) x[i] = known ? position[i] : (@REAL@)NAN;
    for (int i = 0; i < 3; ++i) x[@P@_dimension - 3 + i] = known ? (@REAL@)w[i] : (@REAL@)NAN;
    return known;
}

/* The angular velocity in the base frame, radians per unit of time, of a state x that moves with v. */
static inline void @P@_angular(const @REAL@ *x, const @REAL@ *v, @REAL@ *angular)
{
    @WORK@ w[3], rate[3];
    for (int i = 0; i < 3; ++i) {
        w[i] = (@WORK@)x[@P@_dimension - 3 + i];
        rate[i] = (@WORK@)v[@P@_dimension - 3 + i];
    }
    @P@_angular_of(w, rate, rate);
    for (int i = 0; i < 3; ++i) angular[i] = (@REAL@)rate[i];
}

/* The twist at a pose: linear and angular velocity. Returns 1, or 0 and NaN beyond half a turn. */
static inline int @P@_twist(const @REAL@ *position, const @REAL@ *quaternion, @REAL@ *linear, @REAL@ *angular)
{
    @REAL@ x[@P@_dimension], v[@P@_dimension];
    const int known = @P@_state(position, quaternion, x);
    @P@_velocity(x, v);
    for (int i = 0; i < @P@_dimension - 3; ++i) linear[i] = v[i];
    @P@_angular(x, v, angular);
    return known;
}
