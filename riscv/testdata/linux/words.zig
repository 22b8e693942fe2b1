//! Threads, memory, files and input of Zig's std.
const std = @import("std");

fn add(sum: *std.atomic.Value(u64), n: u64) void {
    for (0..1000) |k| _ = sum.fetchAdd(n * k, .monotonic);
}

pub fn main() !u8 {
    var sum: std.atomic.Value(u64) = .init(0);
    var threads: [4]std.Thread = undefined;
    for (&threads, 0..) |*t, i| t.* = try std.Thread.spawn(.{}, add, .{ &sum, i });
    for (threads) |t| t.join();
    std.debug.print("{d}\n", .{sum.load(.monotonic)});

    const memory = std.heap.page_allocator;
    var all: []u8 = try memory.alloc(u8, 1);
    var used: usize = 0;
    while (true) {
        const n = try std.posix.read(0, all[used..]);
        if (n == 0) break;
        used += n;
        if (used == all.len) all = try memory.realloc(all, 3 * all.len + 4096);
    }
    var words: u8 = 0;
    var each = std.mem.tokenizeAny(u8, all[0..used], " \n");
    while (each.next()) |word| : (words += 1) std.debug.print("{s} ", .{word});
    std.debug.print("{d:.3}\n", .{@as(f64, @floatFromInt(words)) / 7});
    return words;
}
