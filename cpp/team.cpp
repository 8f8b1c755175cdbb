#include "team.hpp"

#include <algorithm>
#include <system_error>

namespace goct {
namespace {

#ifdef NDEBUG
constexpr double kShort = 0.005;    // seconds
#else
constexpr double kShort = 0;        // the tests want threads everywhere
#endif

}  // namespace

Team::~Team() {
    {
        const std::lock_guard guard(lock_);
        over_ = true;
        changed_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
}

// Only the first member calls this: the others are not there yet.
void Team::start() {
    if (members_ < 2 || control_.elapsed() < kShort) return;
    for (int member = 1; member < members_; ++member) {
        try {
            threads_.emplace_back([this, member] {
                std::unique_lock guard(lock_);
                serve(guard, member, -1, [this] { return over_; });
            });
        } catch (const std::system_error&) {
            break;  // the system has no more threads; those there are do the work
        }
    }
    started_.store(true, std::memory_order_release);
}

void Team::wait_at(int level, bool waits) {
    if (waits)
        waiting_.push_back(level);
    else
        waiting_.erase(std::find(waiting_.begin(), waiting_.end(), level));
    idlest_ = waiting_.empty() ? kNobody : *std::min_element(waiting_.begin(), waiting_.end());
}

SharedWork* Team::pick(int level) const {
    SharedWork* best = nullptr;
    for (SharedWork* work : offers_)
        if (work->level > level && !work->exhausted && (!best || work->level < best->level)) best = work;
    return best;
}

// Helps with what lies deeper than the level until the caller's wait is over.
template <class Done>
void Team::serve(std::unique_lock<std::mutex>& guard, int member, int level, Done&& done) {
    wait_at(level, true);
    while (!done()) {
        SharedWork* const work = pick(level);
        if (!work) {
            changed_.wait(guard);
            continue;
        }
        wait_at(level, false);
        ++work->helpers_;
        guard.unlock();
        work->help(member);
        guard.lock();
        if (--work->helpers_ == 0) changed_.notify_all();
        wait_at(level, true);
    }
    wait_at(level, false);
}

void Team::offer(SharedWork& work) {
    const std::lock_guard guard(lock_);
    offers_.push_back(&work);
    changed_.notify_all();
}

void Team::renew(SharedWork& work) {
    const std::lock_guard guard(lock_);
    work.exhausted = false;
    changed_.notify_all();
}

bool Team::wait(SharedWork& work, int member) {
    std::unique_lock guard(lock_);
    serve(guard, member, work.level, [&] { return work.helpers_ == 0 || !work.exhausted; });
    return !work.exhausted;
}

void Team::withdraw(SharedWork& work, int member) {
    std::unique_lock guard(lock_);
    offers_.erase(std::find(offers_.begin(), offers_.end(), &work));
    if (work.helpers_ > 0) serve(guard, member, work.level, [&] { return work.helpers_ == 0; });
}

}  // namespace goct
