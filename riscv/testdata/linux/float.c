/* What the C library does in floating point: text, functions, and the flags that operations raise. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RAISED(what, call)                                                                                       \
    do {                                                                                                         \
        feclearexcept(FE_ALL_EXCEPT);                                                                            \
        volatile double got = (call);                                                                            \
        printf("%s: %.17g %#x\n", what, got, fetestexcept(FE_ALL_EXCEPT));                                       \
    } while (0)

int main(int argc, char **argv) {
    volatile double one = argc, third = one / 3, large = 1e300, small = 1e-300;
    printf("%.17g %f %e %a %Lf %.0f\n", third, third, large, third, (long double)third, 2.5 * one);
    printf("%.17g %.9g %d\n", strtod("0.1", NULL), strtof("1e-3", NULL), fegetround());
    printf("%.17g %.17g %.17g %.17g\n", exp(third), pow(third, 0.3), sin(1e22 * one), log(small));
    printf("%g %g %g %g %ld\n", floor(-third), round(2.5 * one), nearbyint(2.5 * one), trunc(-third), lrint(3.5 * one));
    printf("%d %d %d\n", isless(third, one), isinf(large * large), isnan(one - one / 0.0 + one / 0.0));
    RAISED("exact", one + one);
    RAISED("inexact", one / 3);
    RAISED("overflow", large * large);
    RAISED("underflow", small * small);
    RAISED("division", one / (one - one));
    RAISED("invalid", sqrt(-one));
    RAISED("a float", (float)third);
    RAISED("an integer", (double)(long)(third * 10));
    fenv_t before;
    feholdexcept(&before);
    third = one / 7;
    feupdateenv(&before);
    printf("%#x %d\n", fetestexcept(FE_INEXACT), feraiseexcept(FE_OVERFLOW));
    return fetestexcept(FE_OVERFLOW);
}
