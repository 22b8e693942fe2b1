//! Threads, a panic that is caught, a map, files, time and input of Rust's std.
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use std::{env, fs, panic, process, thread};

fn main() {
    let sum = Arc::new(Mutex::new(0u64));
    let threads: Vec<_> = (0..4u64)
        .map(|i| {
            let sum = sum.clone();
            thread::spawn(move || (0..1000).for_each(|k| *sum.lock().unwrap() += i * k))
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    println!("{}", sum.lock().unwrap());

    let (send, receive) = mpsc::channel();
    thread::spawn(move || send.send("from a thread").unwrap());
    println!("{:?} {:?}", receive.recv(), receive.recv());

    let before = Instant::now();
    thread::sleep(Duration::from_millis(3));
    println!("{}", before.elapsed() >= Duration::from_millis(3));

    panic::set_hook(Box::new(|info| eprintln!("{}", info)));
    println!("{}", panic::catch_unwind(|| panic!("on purpose")).is_err());

    println!("{:?} {:?}", env::current_dir().map(|_| ()), fs::read("/no/such"));
    println!("{:?} {:?}", fs::create_dir("/no/such/folder"), fs::metadata("/").map(|m| m.is_dir()));

    let mut words = BTreeMap::new();
    for line in io::stdin().lock().lines() {
        for word in line.unwrap().split_whitespace() {
            *words.entry(word.to_string()).or_insert(0) += 1;
        }
    }
    println!("{:?} {:.3}", words, words.len() as f64 / 7.0);
    io::stdout().flush().unwrap();
    process::exit(words.len() as i32)
}
