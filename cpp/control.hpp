// Stopping a search from outside, and watching it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace goct {

// Thrown out of long work when the search has to end.
struct SearchStopped {};

// After half of the time, with so few features or columns of the first node behind it, a search will not come to its end.
// Then the bound is raised in steps, each a share of what is left of the gap and of the time.
inline constexpr double kHalf = 0.5, kPromising = 0.2, kFirstStep = 0.25, kStepTime = 0.2;

enum class StopReason { none, time, memory, interrupted };

// Shared by the threads of one call and the one that waits for them.
class Control {
public:
    explicit Control(double seconds = std::numeric_limits<double>::infinity()) { restart(seconds); }
    // As if it were a new one; between calls.
    void restart(double seconds) {
        start_ = Clock::now();
        reason_ = StopReason::none;
        finishing_ = false;
        incumbent = kNoIncumbent;
        bound = 0;
        nodes = depth_two = 0;
        memory_needed = 0;
        resume();
        limited_ = seconds < 1e9;
        const std::chrono::duration<double> allowed(limited_ ? seconds : 0.0);
        deadline_ = start_ + std::chrono::duration_cast<Clock::duration>(allowed);
    }

    void interrupt() { stop(StopReason::interrupted); }
    // ... of which so many bytes would be needed, if that is known.
    void run_out_of_memory(double needed = 0) {
        memory_needed = needed;
        stop(StopReason::memory);
    }
    // For tests: an interrupt at an exact moment.
    void stop_after(std::int64_t polls) { polls_left_ = polls; }

    // Polled by the search a few thousand times per second and more; true once it has to end.
    bool stopped() {
        if (reason_.load(std::memory_order_relaxed) != StopReason::none) return true;
        if (limited_ && Clock::now() >= deadline_) stop(StopReason::time);
        if (polls_left_.load(std::memory_order_relaxed) >= 0 && polls_left_-- == 0) interrupt();
        if ((pausing_ && Clock::now() >= pause_) || nodes.load(std::memory_order_relaxed) >= pause_nodes_)
            paused_.store(true, std::memory_order_relaxed);
        return paused() || reason_.load(std::memory_order_relaxed) != StopReason::none;
    }
    // Between the parts of a search: the next one ends after so many seconds of the call, or more nodes, as if stopped,
    // but the call goes on.
    void pause_at(double seconds, std::uint64_t more_nodes = kAnyNumber) {
        pause_nodes_ = more_nodes == kAnyNumber ? kAnyNumber : nodes + more_nodes;
        pausing_ = seconds < 1e9;
        const std::chrono::duration<double> until(pausing_ ? seconds : 0.0);
        pause_ = start_ + std::chrono::duration_cast<Clock::duration>(until);
        paused_ = false;
    }
    void resume() { pause_at(std::numeric_limits<double>::infinity()); }
    bool paused() const { return paused_.load(std::memory_order_relaxed); }
    // All the time there is, in seconds.
    double limit() const {
        using Seconds = std::chrono::duration<double>;
        return limited_ ? Seconds(deadline_ - start_).count() : std::numeric_limits<double>::infinity();
    }
    // The same for long work below the search, which is given up.
    void check() {
        if (!finishing_.load(std::memory_order_relaxed) && stopped()) throw SearchStopped{};
    }
    // From now on check() lets everything pass: the search is over, its tree has to be written down.
    void finish() { finishing_ = true; }
    StopReason reason() const { return reason_.load(); }
    double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    // Progress. Searches report avoidable costs; the offset leads back to those of the input.
    static constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::int64_t kNoIncumbent = std::numeric_limits<std::int64_t>::max();
    std::atomic<std::int64_t> offset{0};
    std::atomic<bool> started{false};           // before, the offset is not known
    std::atomic<std::int64_t> incumbent{kNoIncumbent};
    std::atomic<std::int64_t> bound{0};
    std::atomic<std::uint64_t> nodes{0};        // row sets searched at depth three and more
    std::atomic<std::uint64_t> depth_two{0};    // row sets solved at depth two
    std::atomic<double> memory_needed{0};       // bytes, if a search was not begun for want of them

private:
    using Clock = std::chrono::steady_clock;

    void stop(StopReason reason) {
        StopReason none = StopReason::none;
        reason_.compare_exchange_strong(none, reason);
    }

    Clock::time_point start_, deadline_, pause_;
    bool limited_, pausing_ = false;
    std::uint64_t pause_nodes_ = kAnyNumber;
    std::atomic<bool> paused_{false};
    std::atomic<StopReason> reason_{StopReason::none};
    std::atomic<bool> finishing_{false};
    std::atomic<std::int64_t> polls_left_{-1};
};

// Rows x features^2 of a depth-two solution that takes long; the tests treat every one so.
#ifdef NDEBUG
inline constexpr double kLongWork = 1e9;
#else
inline constexpr double kLongWork = 0;
#endif

// Spreads checks over long work, one every few milliseconds.
class Pace {
public:
    explicit Pace(Control& control) : control_(control) {}
    void step(std::size_t work) {
        work_ += work;
        if (work_ < kWorkBetweenChecks) return;
        work_ = 0;
        control_.check();
    }

private:
#ifdef NDEBUG
    static constexpr std::size_t kWorkBetweenChecks = 1 << 20;
#else
    static constexpr std::size_t kWorkBetweenChecks = 16;     // the tests stop everywhere
#endif
    Control& control_;
    std::size_t work_ = 0;
};

}  // namespace goct
