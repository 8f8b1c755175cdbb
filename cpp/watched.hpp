// Work that leaves Python alive: Ctrl-C, callbacks and other threads.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "control.hpp"

namespace goct {

inline constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

// How a worker has something done by the thread that waits for it and holds the GIL.
class Errands {
public:
    // By the worker: returns when the errand is done, or false if it will not be.
    bool run(const std::function<void()>& errand) {
        std::unique_lock guard(lock_);
        errand_ = &errand;
        changed_.notify_all();
        changed_.wait(guard, [&] { return errand_ == nullptr; });
        return !refused_;
    }
    void finish() {
        const std::lock_guard guard(lock_);
        done_ = true;
        changed_.notify_all();
    }

    // By the other thread: true when there is something to do.
    bool wait(std::chrono::milliseconds most) {
        std::unique_lock guard(lock_);
        return changed_.wait_for(guard, most, [&] { return done_ || errand_; });
    }
    bool done() {
        const std::lock_guard guard(lock_);
        return done_;
    }
    // The worker waits meanwhile.
    const std::function<void()>* errand() {
        const std::lock_guard guard(lock_);
        return errand_;
    }
    void answer(bool refused) {
        const std::lock_guard guard(lock_);
        errand_ = nullptr;
        refused_ = refused;
        changed_.notify_all();
    }

private:
    std::mutex lock_;
    std::condition_variable changed_;
    const std::function<void()>* errand_ = nullptr;
    bool refused_ = false, done_ = false;
};

// Python ends, but not the threads that it does not wait for. One of them that asked for the GIL would be ended in the
// middle of C++, which aborts: what they search is stopped, and they ask for nothing more.
class PythonEnds {
public:
    // Called by Python before it ends; returns when nothing is watched any more, or too slow to wait for.
    static void stop_all() {
        ender_ = std::this_thread::get_id();
        begun_ = true;
        const nanobind::gil_scoped_release release;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
        while (watched_ > 0 && std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    // Is this one of those threads? Functions that end Python may search as before.
    static bool is_near() { return begun_ && std::this_thread::get_id() != ender_; }

    PythonEnds() {
        if (is_near()) {
            const nanobind::gil_scoped_release release;
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
        }
        ++watched_;
    }
    ~PythonEnds() { --watched_; }
    PythonEnds(const PythonEnds&) = delete;

private:
    static inline std::atomic<int> watched_{0};
    static inline std::atomic<bool> begun_{false};
    static inline std::thread::id ender_;
};

// Runs the work on a thread of its own, without the GIL, and meanwhile looks after Ctrl-C and the errands of the work,
// and calls `look`, which stops the work by returning true. An error in `look` or an errand stops it too, and comes
// out; Ctrl-C only interrupts the control.
inline void run_watched(Control& control, const std::function<bool()>& look, const std::function<void(Errands&)>& work) {
    const PythonEnds watched;
    Errands errands;
    std::exception_ptr failure;
    std::thread worker([&] {
        try {
            work(errands);
        } catch (...) {
            failure = std::current_exception();
        }
        errands.finish();
    });
    std::exception_ptr raised;
    bool stopping = false;
    auto next_look = std::chrono::steady_clock::now() + kBetweenLooks;
    for (;;) {
        {
            const nanobind::gil_scoped_release release;
            errands.wait(kBetweenLooks);
        }
        if (errands.done()) break;
        const std::function<void()>* errand = errands.errand();
        bool refused = true;
        try {
            if (errand && !stopping) {
                (*errand)();
                refused = false;
            }
            stopping = stopping || PythonEnds::is_near();
            if (!stopping && std::chrono::steady_clock::now() >= next_look) {
                if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
                stopping = look();
                next_look = std::chrono::steady_clock::now() + kBetweenLooks;
            }
        } catch (const nanobind::python_error& error) {
            if (!error.matches(PyExc_KeyboardInterrupt)) raised = std::current_exception();
            stopping = true;
        } catch (...) {
            raised = std::current_exception();
            stopping = true;
        }
        if (stopping) control.interrupt();
        if (errand) errands.answer(refused);
    }
    worker.join();
    if (raised) std::rethrow_exception(raised);
    if (failure) std::rethrow_exception(failure);
}

}  // namespace goct
