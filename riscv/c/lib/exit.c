#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "objects.h"

void exit(int code) {
    zkbench_destroy();
    zkbench_exit(code);
}

void zkbench_exit(int code) {
    if (code != 0 && (code & 0xff) == 0)
        code = 255;
    for (;;)
        zkbench_call2(CALL_EXIT, code, 0);
}

void abort(void) {
    zkbench_exit(128 + 6); /* a shell's code for SIGABRT */
}

void zkbench_assert_failed(const char *text) {
    zkbench_call3(CALL_WRITE, 2, text, strlen(text));
    abort();
}
