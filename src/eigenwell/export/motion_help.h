 * A motion, which follows what was shown even where it crosses itself; the struct is its memory:
 *   int  @P@_motion_begin(@P@_motion *m, const @REAL@ x[@D@])
 *   int  @P@_motion_begin_at(@P@_motion *m, int goal, @REAL@ phase, const @REAL@ x[@D@])
 *   int  @P@_motion_step(@P@_motion *m, const @REAL@ x[@D@], @REAL@ dt, @REAL@ v[@D@])    v for the next dt
 *   int  @P@_motion_advance(@P@_motion *m, const @REAL@ x[@D@], @REAL@ dt, @REAL@ next[@D@])    or where to be after it
 *   int  @P@_motion_done(const @P@_motion *m)
