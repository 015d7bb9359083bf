// Included before every source of the wheel's engine (scripts/build-wheel): exp, log and their like
// by the names that glibc has had since 2.2.5. zig links functions of its own in their place
// otherwise, whose last digit is another, and the same request would not give the same bytes as the
// program.
#pragma once

__asm__(".symver exp,exp@GLIBC_2.2.5");
__asm__(".symver exp2,exp2@GLIBC_2.2.5");
__asm__(".symver log,log@GLIBC_2.2.5");
__asm__(".symver log2,log2@GLIBC_2.2.5");
__asm__(".symver log10,log10@GLIBC_2.2.5");
