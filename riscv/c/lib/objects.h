/* What start-up and exit do for objects that a program has from its start to its end. */

#ifndef ZKBENCH_OBJECTS_H
#define ZKBENCH_OBJECTS_H

void zkbench_construct(void);
void zkbench_destroy(void);
__attribute__((noreturn)) void zkbench_exit(int code);

#endif
