// Threads that help each other out.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "control.hpp"

namespace goct {

// Work that others may join, at some level of a search: nearer to the first one there is more of it.
class SharedWork {
public:
    explicit SharedWork(int level) : level(level) {}
    SharedWork(const SharedWork&) = delete;
    virtual ~SharedWork() = default;

    // Called by another member of the team: does a part of the work, if there is any left. Does not throw.
    virtual void help(int member) = 0;

    const int level;
    std::atomic<bool> exhausted{false};     // there is nothing left to begin

private:
    friend class Team;
    int helpers_ = 0;       // in it right now
};

// The members of a team: the thread that made it, number 0, and helpers. Whoever works may offer some of it; whoever has
// nothing to do joins the work nearest to the root. Someone who waits for others helps with what lies deeper than his own
// work, so that nobody waits for somebody who waits for him.
class Team {
public:
    // The threads begin when they are first wanted, and not before the call has run for a while: short ones need none.
    Team(int members, Control& control) : members_(members), control_(control) {}
    ~Team();

    int members() const { return members_; }
    // Is there somebody without work who could join at this level?
    bool wants_work(int level) {
        if (!started_.load(std::memory_order_acquire)) start();
        return idlest_.load(std::memory_order_relaxed) < level;
    }
    void offer(SharedWork& work);
    // There is something to begin again.
    void renew(SharedWork& work);
    // Returns when nobody is in it any more, or there is something to begin: then true.
    bool wait(SharedWork& work, int member);
    // Returns when nobody is in it any more.
    void withdraw(SharedWork& work, int member);

private:
    static constexpr int kNobody = 1 << 20;

    void start();
    template <class Done>
    void serve(std::unique_lock<std::mutex>& guard, int member, int level, Done&& done);
    SharedWork* pick(int level) const;
    void wait_at(int level, bool waits);

    const int members_;
    Control& control_;
    std::atomic<bool> started_{false};
    std::atomic<int> idlest_{kNobody};      // the least level at which somebody waits; helpers wait at -1
    std::mutex lock_;
    std::condition_variable changed_;
    std::vector<SharedWork*> offers_;
    std::vector<int> waiting_;              // at which levels
    bool over_ = false;
    std::vector<std::thread> threads_;
};

// A team whose members are searches S. Each has one of its own, made by S(first, member) when it is first needed, and
// knows its crew while there is one: S has a pointer crew_, which stays null in a crew of one.
template <class S>
class Crew {
    S& first_;
    std::vector<std::unique_ptr<S>> others_;

public:
    Crew(S& first, int members, Control& control) : first_(first), others_(members), team(members, control) {
        if (members > 1) first.crew_ = this;
    }
    ~Crew() { first_.crew_ = nullptr; }
    Crew(const Crew&) = delete;

    // Called by that member only.
    S& member(int m) {
        if (m == 0) return first_;
        if (!others_[m]) others_[m] = std::make_unique<S>(first_, m);
        return *others_[m];
    }

    Team team;      // the first to go
};

// Work that the members of a crew do together, in a loop of its owner's. The lock is for what they share.
template <class S>
class CrewWork : public SharedWork {
public:
    void help(int member) final {
        try {
            S& who = owner_.crew_->member(member);
            join(who);
            guarded(who);
        } catch (...) {
            fail();
        }
    }

protected:
    CrewWork(S& owner, int level) : SharedWork(level), owner_(owner) {}

    // Makes another member ready.
    virtual void join(S& who) = 0;
    // Works until there is nothing to begin. Then `exhausted` is true; if there is more later, renew() was called.
    virtual void work(S& who) = 0;

    // All of it. An error of one member, a stop among them, ends it for all.
    void run() {
        do guarded(owner_);
        while (shared_ && owner_.crew_->team.wait(*this, owner_.member_));
        if (shared_) owner_.crew_->team.withdraw(*this, owner_.member_);
    }
    // For the owner, who has something left to begin.
    void share() {
        shared_ = true;
        owner_.crew_->team.offer(*this);
    }
    void renew() {
        if (shared_ && exhausted) owner_.crew_->team.renew(*this);
    }

    S& owner_;
    std::mutex lock_;
    std::atomic<bool> shared_{false};
    std::exception_ptr error_;

private:
    void guarded(S& who) {
        try {
            work(who);
        } catch (...) {
            fail();
        }
    }
    void fail() {
        const std::lock_guard guard(lock_);
        if (!error_) error_ = std::current_exception();
        exhausted = true;
    }
};

}  // namespace goct
