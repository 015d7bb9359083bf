/* What a program may tell the recorder that `headway record` starts it with. Nothing is linked: in a
   program that runs without it the calls do nothing.

       #include <headway/record.h>
       for (;;) { headway_step(); ... }
*/
#ifndef HEADWAY_RECORD_H
#define HEADWAY_RECORD_H

#ifdef __cplusplus
extern "C" {
#endif

void headway_record_step(void) __attribute__((weak));

/* A step of the program begins. Steps count from 0; what comes before the first is of none. */
static inline void headway_step(void) {
  if (headway_record_step) headway_record_step();
}

#ifdef __cplusplus
}
#endif

#endif
