// Exceptions, threads and containers of C++.
#include <condition_variable>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

thread_local int mine = 7;

int main() {
    std::mutex mutex;
    long sum = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&, i] {
            for (int k = 0; k < 1000; k++) {
                std::lock_guard<std::mutex> hold(mutex);
                sum += i * k + mine;
            }
        });
    for (auto &t : threads)
        t.join();
    std::cout << sum << "\n";

    auto failing = std::async(std::launch::async, []() -> int { throw std::runtime_error("in a thread"); });
    try {
        failing.get();
    } catch (const std::exception &e) {
        std::cout << "caught " << e.what() << "\n";
    }

    std::condition_variable ready;
    bool done = false;
    std::thread other([&] {
        std::unique_lock<std::mutex> hold(mutex);
        done = true;
        ready.notify_one();
    });
    {
        std::unique_lock<std::mutex> hold(mutex);
        ready.wait(hold, [&] { return done; });
        std::cout << ready.wait_for(hold, std::chrono::milliseconds(5), [] { return false; }) << "\n";
    }
    other.join();

    std::map<std::string, int> words;
    std::string line, word;
    while (std::getline(std::cin, line))
        for (std::istringstream in(line); in >> word;)
            words[word]++;
    for (auto &[word, n] : words)
        std::cout << word << "=" << n << " ";
    std::cout << std::endl;
    std::cerr << "to standard error\n";
    return words.size();
}
