 * Poses, orientations as unit quaternions x, y, z, w; 0 and NaN half a turn from where the motions end:
 *   int  @P@_twist(const @REAL@ position[@PLACES@], const @REAL@ quaternion[4], @REAL@ linear[@PLACES@], @REAL@ angular[3])
 *   int  @P@_state(const @REAL@ position[@PLACES@], const @REAL@ quaternion[4], @REAL@ x[@D@])    for all the others
 *   void @P@_angular(const @REAL@ x[@D@], const @REAL@ v[@D@], @REAL@ angular[3])           of their velocities
