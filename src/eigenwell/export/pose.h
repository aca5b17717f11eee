
/* --- poses: orientations as unit quaternions x, y, z, w --- */

#define @P@_HAS_POSES 1

/* The last three coordinates are turn_scale times the rotation vector from this orientation, where the motions end. */
static const @WORK@ @P@_reference[4] = @REFERENCE@;
static const @WORK@ @P@_turn_scale = @SCALE@;

/* a x b */
static inline void @P@_cross(const @WORK@ *a, const @WORK@ *b, @WORK@ *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The state of a pose. Returns 1, or 0 and NaN for an orientation half a turn away: nothing was learned there. */
static inline int @P@_state(const @REAL@ *position, const @REAL@ *quaternion, @REAL@ *x)
{
    const @WORK@ *r = @P@_reference;
    @WORK@ q[4], square = 0, w[3], turned[3];
    for (int i = 0; i < 4; ++i) square += (@WORK@)quaternion[i] * (@WORK@)quaternion[i];
    for (int i = 0; i < 4; ++i) q[i] = (@WORK@)quaternion[i] / sqrt@f@(square);
    @P@_cross(r, q, turned);
    @WORK@ real = r[3] * q[3], sine = 0;
    for (int i = 0; i < 3; ++i) {
        real += r[i] * q[i];
        w[i] = r[3] * q[i] - q[3] * r[i] - turned[i];
        sine += w[i] * w[i];
    }
    sine = sqrt@f@(sine);
    const @WORK@ angle = 2 * atan2@f@(sine, fabs@f@(real)); /* q and -q are one orientation: the short way round */
    const int known = angle <= @EDGE@; /* no for NaN */
    const @WORK@ times = (real < 0 ? -1 : 1) * (sine > @NEAR@ ? angle / sine : 2);
    for (int i = 0; i < @P@_dimension - 3; ++i) x[i] = known ? position[i] : (@REAL@)NAN;
    for (int i = 0; i < 3; ++i) x[@P@_dimension - 3 + i] = known ? (@REAL@)(@P@_turn_scale * times * w[i]) : (@REAL@)NAN;
    return known;
}

/* The angular velocity in the base frame, radians per unit of time, of a state x that moves with v. */
static inline void @P@_angular(const @REAL@ *x, const @REAL@ *v, @REAL@ *angular)
{
    const @WORK@ *r = @P@_reference;
    @WORK@ w[3], rate[3], once[3], twice[3], square = 0;
    for (int i = 0; i < 3; ++i) {
        w[i] = (@WORK@)x[@P@_dimension - 3 + i] / @P@_turn_scale;
        rate[i] = (@WORK@)v[@P@_dimension - 3 + i] / @P@_turn_scale;
        square += w[i] * w[i];
    }
    /* The left Jacobian of the exponential; its series where the differences below would lose digits. */
    const @WORK@ a = sqrt@f@(square);
    const int small = a < @SMALL@;
    const @WORK@ half = sin@f@(a / 2);
    const @WORK@ first = small ? 0.5@f@ - square / 24 : 2 * half * half / square;
    const @WORK@ second = small ? 1 / (@WORK@)6 - square / 120 : (a - sin@f@(a)) / (square * a);
    @P@_cross(w, rate, once);
    @P@_cross(w, once, twice);
    for (int i = 0; i < 3; ++i) rate[i] += first * once[i] + second * twice[i];
    @P@_cross(r, rate, once);
    @P@_cross(r, once, twice);
    for (int i = 0; i < 3; ++i) angular[i] = (@REAL@)(rate[i] + 2 * (r[3] * once[i] + twice[i]));
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
