/* Runs an exported header on states from stdin: writes v, V, basin and far of each, then nanoseconds per velocity. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "@HEADER@"

int main(void)
{
    enum { D = @P@_dimension, N = @STATES@ };
    static @REAL@ x[N][D], v[N][D], potential[N];
    static int basin[N], far_[N];
    double spent = 0, asked = 0, sum = 0;
    if (fread(x, sizeof x, 1, stdin) != 1) return 1;
    for (int n = 0; n < N; ++n) {
        @P@_velocity(x[n], v[n]);
        potential[n] = @P@_potential(x[n]);
        basin[n] = @P@_basin(x[n]);
        far_[n] = @P@_far(x[n]);
    }
    while (spent < 0.1) {
        const clock_t start = clock();
        for (int n = 0; n < 1000; ++n) {
            @REAL@ out[D];
            @P@_velocity(x[((int)asked + n) % N], out);
            sum += (double)out[0];
        }
        spent += (double)(clock() - start) / CLOCKS_PER_SEC;
        asked += 1000;
    }
    const double timing[2] = {1e9 * spent / asked, sum}; /* the sum keeps the compiler from leaving the work out */
    return !(fwrite(v, sizeof v, 1, stdout) && fwrite(potential, sizeof potential, 1, stdout) &&
             fwrite(basin, sizeof basin, 1, stdout) && fwrite(far_, sizeof far_, 1, stdout) &&
             fwrite(timing, sizeof timing, 1, stdout));
}
