// Objects of C++ as a program has them; what it commits to is text. The input is how it ends.

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <array>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "zkbench.h"
#include "zkvm_accelerators.h"
#include "zkvm_io.h"

static void say(const char *text) {
    write_output(reinterpret_cast<const uint8_t *>(text), strlen(text));
}

struct Said {
    const char *name;
    explicit Said(const char *n) : name(n) {
        say("+");
        say(name);
    }
    ~Said() {
        say("-");
        say(name);
    }
};

static Said global("global "), other("other ");

static Said &local() {
    static Said s("local ");
    return s;
}

struct Shape {
    virtual int sides() const = 0;
    int asked() const { return sides(); }
    Shape() = default;
    explicit Shape(bool early) {
        if (early)
            asked(); // before there is a function to call
    }
    virtual ~Shape() { say("~shape "); }
};

struct Square final : Shape {
    Square() = default;
    explicit Square(bool early) : Shape(early) {}
    int sides() const override { return 4; }
    ~Square() override { say("~square "); }
};

struct alignas(256) Page {
    uint8_t bytes[256];
};

struct Endless {
    Endless();
};

static Endless &endless() {
    static Endless e;
    return e;
}

Endless::Endless() { endless(); }

static volatile size_t too_much = INT_MAX;

static bool is_aligned(const void *p, uintptr_t to) { return reinterpret_cast<uintptr_t>(p) % to == 0; }

int main() {
    const uint8_t *input;
    size_t size;
    read_input(&input, &size);
    local();
    say(local().name);

    const Shape *shape = new Square;
    assert(shape->asked() == 4);
    delete shape;

    Said *several = new Said[2]{Said("x "), Said("y ")};
    delete[] several;

    Page *page = new Page, *pages = new Page[3];
    assert(is_aligned(page, 256) && is_aligned(pages, 256) && page + 1 <= pages);
    memset(static_cast<void *>(pages), 1, 3 * sizeof *pages);
    delete page;
    delete[] pages;
    assert(is_aligned(malloc(1), 16));
    assert(new (std::nothrow) uint8_t[too_much] == nullptr && new (std::nothrow) Page[too_much / sizeof(Page)] == nullptr);

    std::vector<std::pair<int, std::array<uint64_t, 3>>> list;
    for (int i = 0; i < 100; i++)
        list.push_back({i, {uint64_t(i), 2, 3}});
    assert(list.size() == 100 && list[99].second[0] == 99);
    const std::span<const uint64_t, 3> three(list[7].second);
    static_assert(std::is_same_v<decltype(list)::value_type::first_type, int>);
    assert(three[0] == 7 && three.size() == 3);

    alignas(Said) uint8_t place[sizeof(Said)];
    (new (place) Said("placed "))->~Said();

    const char end = size == 0 ? '-' : char(input[0]);
    if (end == 'a')
        Square early(true);
    if (end == 'b')
        endless();
    if (end == 'c')
        write_output(new uint8_t[too_much], 1);
    if (end == 'd')
        return list.at(100).first;
    if (end == 'e')
        exit(7);
    return 0;
}
