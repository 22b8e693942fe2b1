// Counts the words of its input, with what a program of Rust needs of the compiler's library: maps, strings, sorting, numbers
// of 128 bits, data that is written. Without an input it panics.

#![no_std]
#![no_main]
extern crate alloc;
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use core::alloc::{GlobalAlloc, Layout};

extern "C" {
    fn read_input(at: *mut *const u8, size: *mut usize);
    fn write_output(at: *const u8, size: usize);
    fn malloc(size: usize) -> *mut u8;
    fn exit(code: i32) -> !;
}

struct Heap;
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, l: Layout) -> *mut u8 { malloc(l.size() + l.align()) }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
#[global_allocator]
static HEAP: Heap = Heap;

#[panic_handler]
fn panic(why: &core::panic::PanicInfo) -> ! {
    let text = format!("{why}");
    unsafe {
        write_output(text.as_ptr(), text.len());
        exit(101)
    }
}

static mut COUNTS: [u32; 4] = [1, 2, 3, 4];

#[no_mangle]
extern "C" fn main() -> i32 {
    unsafe {
        let (mut at, mut size) = (core::ptr::null(), 0);
        read_input(&mut at, &mut size);
        let text = core::str::from_utf8(core::slice::from_raw_parts(at, size)).unwrap_or("bad");
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for word in text.split_whitespace() {
            *counts.entry(String::from(word)).or_insert(0) += 1;
            COUNTS[1] += 1;
        }
        let mut sorted: Vec<_> = counts.into_iter().collect();
        sorted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut x: u128 = 1;
        for (word, n) in sorted.iter() {
            x = x.wrapping_mul(0x9e3779b97f4a7c15f39cc0605cedc835).wrapping_add(*n as u128);
            for byte in word.bytes() {
                x ^= (byte as u128) << (byte % 100);
            }
            x = x / 3 + x % 7;
        }
        let (words, first) = (COUNTS[1], COUNTS[0] as usize);
        let out = format!("{:?} {x:032x} {words}\n", &sorted[..sorted.len().min(3)]);
        write_output(out.as_ptr(), out.len());
        if size == 0 {
            let none: &[u8] = &[];
            return none[first] as i32;
        }
        0
    }
}
