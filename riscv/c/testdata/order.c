/* Commits to a letter in each function that start-up and exit call, in the order in which they call it. */

#include <stdlib.h>

#include "zkvm_io.h"

static void say(uint8_t letter) {
    write_output(&letter, 1);
}

__attribute__((constructor(101))) static void first(void) {
    say('a');
}

__attribute__((constructor(102))) static void second(void) {
    say('b');
}

__attribute__((constructor)) static void third(void) {
    say('c');
}

__attribute__((destructor)) static void before_last(void) {
    say('i');
}

__attribute__((destructor(101))) static void last(void) {
    say('j');
}

static void late(void) {
    say('g');
}

static void registered_first(void) {
    say('h');
}

static void registered_second(void) {
    say('f');
    if (atexit(late) != 0)
        abort();
}

static void registered_third(void) {
    say('e');
}

int main(void) {
    const uint8_t *input;
    size_t size;
    say('d');
    if (atexit(registered_first) != 0 || atexit(registered_second) != 0 || atexit(registered_third) != 0)
        abort();
    read_input(&input, &size);
    if (size > 0)
        abort(); /* at once */
    return 0;
}
