#include "threshold_search.hpp"

#include <exception>
#include <iterator>
#include <mutex>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "order.hpp"

namespace goct {
namespace {

constexpr std::size_t kFewLanes = 6;
constexpr int kSlack = 32;      // one part in so many
constexpr int kSoonDone = 3;    // up to this depth
#ifdef NDEBUG
constexpr double kLeastShared = 3e4;    // rows x columns^2 of a node
constexpr double kShortPairs = 0.05;    // seconds of trees of depth two; whoever joins has to copy the rows first
#else
constexpr double kLeastShared = 0, kShortPairs = 0;
#endif

}  // namespace

ThresholdSearch::ThresholdSearch(const ThresholdContext& context)
    : context_(context), constrained_(context.costs.min_leaf_weight() > 0), split_cost_(context.costs.split_cost()) {
    Level& root = level(0);
    root.node.make_root(context.data, context.costs, context.is_walked, context.control);
    swing_ = root.node.swing();
    scans_ = make_stump_scans(context.costs, swing_, context.control);
}

ThresholdSearch::ThresholdSearch(const ThresholdSearch& first, int member)
    : context_(first.context_), constrained_(first.constrained_), split_cost_(first.split_cost_), swing_(first.swing_),
      scans_(make_stump_scans(context_.costs, swing_, context_.control)), crew_(first.crew_), member_(member) {}

ThresholdSearch::Level& ThresholdSearch::level(int l) {
    if (!levels_[l]) levels_[l] = std::make_unique<Level>();
    return *levels_[l];
}

ThresholdSearch::Size ThresholdSearch::usable(Size size) {
    size.depth = std::min(size.depth, size.splits);
    if (most_splits(size.depth, kAnySplits) <= size.splits) size.splits = kAnySplits;
    return size;
}

std::vector<ThresholdSearch::Shares> ThresholdSearch::shares(Size size) const {
    const Size side{size.depth - 1, kAnySplits};
    if (size.splits == kAnySplits) return {{side, side}};
    std::vector<Shares> all;
    const int most = most_splits(side.depth, size.splits);
    for (int left = std::max(0, size.splits - 1 - most); left <= std::min(most, size.splits - 1); ++left)
        all.push_back({usable({side.depth, left}), usable({side.depth, size.splits - 1 - left})});
    return all;
}

ThresholdSearch::Outcome ThresholdSearch::solve(Size size, std::int64_t cutoff, int jobs) {
    Crew<ThresholdSearch> crew(*this, jobs, context_.control);
    best_ = {};
    std::optional<Outcome> out;
    Control& control = context_.control;
    if (usable(size).depth > kSoonDone && usable(size).splits == kAnySplits && context_.techniques.deepening &&
        control.limit() < 1e9) {
        control.pause_at(kHalf * control.limit());
        out = ask(size, cutoff);
        if (!out && double(best_.bound) < kPromising * double(std::min(cutoff, best_.cost))) out = climb(size, cutoff);
        control.resume();
    }
    // If the tree that is known is one of the best, the first of these is found.
    if (!out) out = ask(size, std::min(cutoff, best_.cost + 1));
    if (out) return *out;
    best_.bound = std::min(best_.bound, best_.cost);
    return best_;
}

// Nothing if it was stopped.
std::optional<ThresholdSearch::Outcome> ThresholdSearch::ask(Size size, std::int64_t cutoff) {
    asked_ = usable(size);
    Outcome out;
    try {
        search(0, {asked_, Leaves::allowed, cutoff, Wanted::first_tree}, out);
    } catch (const SearchStopped&) {
        return {};
    }
    return out;
}

// The time will not suffice, so the bound is raised: below a low cutoff it is soon proven that there is no tree, then
// below a higher one, as in Search::climb. Returns the best tree if that is found on the way.
std::optional<ThresholdSearch::Outcome> ThresholdSearch::climb(Size size, std::int64_t cutoff) {
    Control& control = context_.control;
    double share = kFirstStep;
    while (control.reason() == StopReason::none) {
        const std::int64_t room = std::min(cutoff, best_.cost) - best_.bound;
        const auto step = static_cast<std::int64_t>(share * double(room));
        if (step + 1 >= room) break;    // the whole question is next
        const std::int64_t below = best_.bound + step + 1;
        control.pause_at(control.elapsed() + kStepTime * std::max(control.limit() - control.elapsed(), 0.0));
        const std::optional<Outcome> found = ask(size, below);
        if (found && found->cost < below) return found;
        if (found) control.bound = best_.bound = below;
        share = found ? std::min(1.0, share * 1.5) : share / 3;
    }
    return {};
}

// What is found for all rows, in case of a stop.
void ThresholdSearch::report(int l, const Question& question, const Outcome& out) {
    if (l > 0 || context_.is_walked || out.tree.empty() || out.cost >= best_.cost) return;
    if (constrained_ && !counts(question.leaves) && !qualifies(out.tree)) return;
    best_.cost = out.cost;
    best_.tree = out.tree;
    context_.control.incumbent = out.cost;
}

void ThresholdSearch::report_bound(int l, const Question& question, std::int64_t bound) {
    // Shares of split budgets have bounds of their own.
    if (l > 0 || context_.is_walked || question.size.depth < asked_.depth || question.size.splits != kAnySplits)
        return;
    best_.bound = std::max(best_.bound, bound);
    context_.control.bound = best_.bound;
}

// Adds what the cache knows; true if that answers the question.
bool ThresholdSearch::probe(const RankedNode::Name& rows, const Question& question, Outcome& out) const {
    if (!context_.techniques.cache) return false;
    const int splits = question.size.splits + kOverRanks + (constrained_ && !counts(question.leaves) ? kRelaxed : 0);
    const auto found = context_.cache.find(rows.key, {question.size.depth, splits});
    if (!found) return false;
    if (found->costs != context_.costs_number) {
        if (context_.techniques.transfer)
            out.bound = std::max(out.bound, context_.ratios[found->costs].scaled_up(found->value) - rows.base);
        out.is_close = context_.ratios[found->costs].is_close(kSlack);
    } else {
        out.is_close = true;
        out.bound = std::max(out.bound, found->value - rows.base);
        if (found->exact && question.wanted == Wanted::cost) out.cost = out.bound;
    }
    return out.cost <= out.bound || out.bound >= question.cutoff;
}

void ThresholdSearch::remember(const RankedNode& node, const Question& question, const Outcome& out) {
    if (!context_.techniques.cache) return;
    const int splits = question.size.splits + kOverRanks + (constrained_ && !counts(question.leaves) ? kRelaxed : 0);
    context_.cache.store(node.key(), {question.size.depth, splits},
                         {out.bound + node.base(), kLeaf, context_.costs_number, out.cost <= out.bound});
}

// Raises the bound of `out`. A tree that costs less than the cutoff is found, and the bound is its cost then.
void ThresholdSearch::search(int l, const Question& question, Outcome& out) {
    context_.control.check();
    const RankedNode& node = level(l).node;
    const std::int64_t leaf = node.leaf();
    out.cost = leaf;
    out.tree.assign(1, kLeaf);
    report(l, question, out);
    // A split costs at least the split cost.
    if (question.size.depth == 0 || node.columns() == 0 || leaf <= split_cost_) {
        out.bound = leaf;
        return;
    }
    if (search_affordable(l, question, out)) return;
    if (out.bound >= question.cutoff || probe({node.key(), node.base()}, question, out)) return;
    if (question.size.depth == 1)
        search_stumps(l, question, out);
    else
        search_larger(l, question, out);
    report(l, question, out);
    out.bound = std::max(out.bound, std::min(out.cost, question.cutoff));
    if (out.cost > out.bound) out.tree.clear();
    remember(node, question, out);
}

// A tree below the cutoff, and better than the leaf, has no more splits than it can pay, and is not deeper. True if that
// is less than the question allows: then it is answered.
bool ThresholdSearch::search_affordable(int l, const Question& question, Outcome& out) {
    if (split_cost_ == 0 || question.cutoff <= 0) return false;
    const std::int64_t limit = std::min(question.cutoff, out.cost), splits = (limit - 1) / split_cost_;
    if (splits >= question.size.depth) return false;
    const Question affordable{usable({static_cast<int>(splits), question.size.splits}), question.leaves, limit,
                              question.wanted};
    // Whatever is larger is not below the limit, so a bound on the smaller trees is one on all.
    if (l == 0 && question.size.depth == asked_.depth) asked_ = affordable.size;
    Outcome found;
    found.bound = std::min(out.bound, limit);
    search(l, affordable, found);
    if (found.cost < limit)
        out = found;
    else
        out.bound = std::max(out.bound, limit);
    remember(level(l).node, question, out);
    return true;
}

void ThresholdSearch::search_stumps(int l, const Question& question, Outcome& out) {
    const RankedNode& node = level(l).node;
    const Stump stump = side_stump(l, -1, 0, false, question.leaves);
    out.bound = std::max(out.bound, out.cost);
    if (stump.cost + split_cost_ >= out.cost) return;
    out.bound = out.cost = stump.cost + split_cost_;
    out.tree = {name(node, stump.column, stump.threshold), kLeaf, kLeaf};
}

void ThresholdSearch::search_larger(int l, Question question, Outcome& out) {
    const auto answered = [&] { return out.cost <= out.bound || out.bound >= question.cutoff; };
    const auto take = [&](const Outcome& found) {
        if (found.cost < out.cost) out.cost = found.cost, out.tree = found.tree;
    };
    if (l == 0 && question.size.depth >= 4 && question.size.splits == kAnySplits && context_.techniques.first_pass &&
        best_.tree.size() < 2)
        question.cutoff = std::min(question.cutoff, grow(l, question).cost + 1);
    if (counts(question.leaves)) {
        // The relaxed problem first: its tree may be allowed.
        Outcome relaxed;
        search(l, {question.size, Leaves::any, question.cutoff, l == 0 ? question.wanted : Wanted::cost}, relaxed);
        out.bound = std::max(out.bound, relaxed.bound);
        if (l == 0 && !relaxed.tree.empty() && qualifies(relaxed.tree)) take(relaxed);
        if (answered()) return;
    }
    // Then smaller trees, unless a scan finds them. What they cost bounds the sides of the last thresholds.
    std::int64_t whole = 0;
    if (question.size.depth > 2 || counts(question.leaves) || question.wanted == Wanted::first_tree) {
        Outcome smaller;
        Question less = question;
        less.size = usable({question.size.depth - 1, question.size.splits});
        search(l, less, smaller);
        take(smaller);
        if (!counts(question.leaves)) whole = smaller.bound;
    }
    for (const Shares& shares : shares(question.size)) {
        if (answered()) return;
        if (question.size.depth == 2)
            search_pairs(l, question, shares, out);
        else
            search_intervals(l, question, shares, whole, out);
    }
}

// A tree from the top down: the threshold whose sides have the best stumps, down to trees of depth two.
ThresholdSearch::Outcome ThresholdSearch::grow(int l, const Question& question) {
    const Size two = usable({2, question.size.splits});
    const Question stumps{two, question.leaves, kInfinite, Wanted::tree};
    Outcome out;
    search(l, stumps, out);
    Level& at = level(l);
    if (question.size.depth <= 2 || out.tree.size() == 1) return out;
    if (!at.ranked) {       // the answer was known
        Outcome again{0, out.cost + 1, {}};
        search_pairs(l, {two, Leaves::any, kInfinite, Wanted::cost}, shares(two).front(), again);
    }
    const int c = static_cast<int>(std::min_element(at.best_cost.begin(), at.best_cost.end()) - at.best_cost.begin());
    const int t = at.best[c];
    if (t < 0 || (constrained_ && !allows(at.node, c, t))) return out;
    Outcome grown{0, split_cost_, {name(at.node, c, t)}};
    for (const bool right : {false, true}) {
        enter(l, c, t, right);
        Question rest = question;
        --rest.size.depth;
        const Outcome side = grow(l + 1, rest);
        grown.cost += side.cost;
        grown.tree.insert(grown.tree.end(), side.tree.begin(), side.tree.end());
    }
    if (grown.cost >= out.cost) return out;
    report(l, question, grown);
    return grown;
}

// ---- intervals ----

void ThresholdSearch::rank(Level& at) {
    const RankedNode& node = at.node;
    at.swings.resize(node.columns());
    for (int c = 0; c < node.columns(); ++c) {
        at.swings[c].resize(node.groups(c));
        std::int64_t sum = 0;
        for (int g = 0, k = 0; g < node.groups(c); ++g) {
            for (; k < node.ends(c)[g]; ++k) sum += context_.costs.swing(node.row(node.order(c)[k]));
            at.swings[c][g] = sum;
        }
    }
    at.best.assign(node.columns(), -1);
    at.best_cost.assign(node.columns(), kInfinite);
    at.ranked = true;
}

ThresholdSearch::Interval ThresholdSearch::between(int c, const Solved& from, const Solved& to) const {
    return {from.left + to.right + split_cost_, c, from, to};
}

// The thresholds of an interval whose bounds are below the limit.
ThresholdSearch::Range ThresholdSearch::alive(const Level& at, const Interval& interval, std::int64_t limit) const {
    const auto& [bound, c, from, to] = interval;
    const std::vector<std::int64_t>& swings = at.swings[c];
    const std::int64_t before = from.threshold < 0 ? 0 : swings[from.threshold], behind = swings[to.threshold];
    if (bound >= limit) return {0, -1};
    if (!context_.techniques.similarity) return {from.threshold + 1, to.threshold - 1};
    if (to.left + from.right - (behind - before) + split_cost_ >= limit) return {0, -1};
    // Whoever is nearer to an end than it is above the limit is above it, too.
    const std::int64_t above_from = std::max<std::int64_t>(from.left + from.right + split_cost_ - limit, 0);
    const std::int64_t above_to = std::max<std::int64_t>(to.left + to.right + split_cost_ - limit, 0);
    const auto begin = swings.begin() + from.threshold + 1, end = swings.begin() + to.threshold;
    const auto first = from.left + from.right + split_cost_ < limit
                           ? begin
                           : std::upper_bound(begin, end, before + above_from);
    const auto last =
        to.left + to.right + split_cost_ < limit ? end : std::lower_bound(first, end, behind - above_to);
    return {static_cast<int>(first - swings.begin()), static_cast<int>(last - swings.begin()) - 1};
}

// Is a threshold that costs as much as the best one to be taken instead?
bool ThresholdSearch::is_before(const Question& question, int c, int t, const Found& found) {
    return question.wanted == Wanted::first_tree && std::tie(c, t) < std::tie(found.column, found.threshold);
}

// What the trees of an interval have to be below. If the least cost was known, only those before the best are left.
std::int64_t ThresholdSearch::limit(const Question& question, const Outcome& out, const Found& found,
                                    const Interval& interval) {
    const bool before = is_before(question, interval.column, interval.from.threshold, found);
    return before || out.bound < out.cost ? std::min(question.cutoff, out.cost + before) : 0;
}

// ---- walks of others ----

void ThresholdSearch::enter(int l, int c, int t, bool right) {
    Level& child = level(l + 1);
    child.ranked = false;
    child.node.make_child(level(l).node, context_.data, context_.costs, c, t, right);
}

std::int64_t ThresholdSearch::prepare(int l, const Shares& shares, std::int64_t cutoff) {
    if (shares[0].depth <= 1) {
        const Pair whole = load_pairs(l);
        return side_cost(whole.leaf, whole.stump, shares[0]);
    }
    Outcome whole;
    search(l, {shares[0], Leaves::any, cutoff, Wanted::cost}, whole);
    if (!level(l).ranked) rank(level(l));
    return std::min(whole.bound, cutoff);
}

ThresholdSearch::Solved ThresholdSearch::solve_sides(int l, const Shares& shares, const Interval& interval, int t,
                                                     std::int64_t limit) {
    Outcome sides[2];
    return solve_sides(l, shares, interval, t, limit, sides);
}

// ---- depth two ----

Stump ThresholdSearch::side_stump(int l, int c, int t, bool right, Leaves leaves) const {
    return find_stump(levels_[l]->node, context_.costs, {c, t, right},
                      counts(leaves) ? context_.costs.min_leaf_weight() : 0, context_.control);
}

std::int64_t ThresholdSearch::side_cost(std::int64_t leaf, std::int64_t stump, Size size) const {
    return size.depth == 0 ? leaf : std::min(leaf, stump + split_cost_);
}

// Makes the node ready for scans. Returns what it costs without the root.
ThresholdSearch::Pair ThresholdSearch::load_pairs(int l) {
    Level& at = level(l);
    ++context_.control.depth_two;
    rank(at);
    scans_->load(at.node);
    const StumpScans::Lane nothing{0, -1};
    StumpScans::Values whole;
    scans_->solve(&nothing, 1, whole);
    return {whole.leaf[1][0], whole.stump[1][0]};
}

// The columns of a node, round by round, and at level 0 those who join. In each round some thresholds of a column are solved.
class ThresholdSearch::PairLoop final : public CrewWork<ThresholdSearch> {
public:
    PairLoop(ThresholdSearch& owner, int l, const Question& question, const Shares& shares, Outcome& out)
        : CrewWork(owner, l), home_(owner.level(l)), question_(question), shares_(shares), out_(out) {
        const Pair whole = owner.load_pairs(l);
        const std::int64_t left = owner.side_cost(whole.leaf, whole.stump, shares[0]);
        const std::int64_t right = owner.side_cost(whole.leaf, whole.stump, shares[1]);
        if (!owner.counts(question.leaves) && question.wanted == Wanted::cost && whole.stump + owner.split_cost_ < out.cost)
            out.cost = whole.stump + owner.split_cost_, out.tree.clear();
        rounds_.resize(home_.node.columns());
        for (int c = 0; c < home_.node.columns(); ++c)
            solved_.push_back({{-1, 0, right}, {home_.node.groups(c) - 1, left, 0}});
        if (const Lanes& few = owner.scans_->few(); !few.empty()) {
            std::vector<StumpScans::Sides> sides;
            owner.scans_->solve_few(sides);
            std::vector<Solved> news;
            for (std::size_t i = 0; i < few.size(); ++i)
                news.push_back({few[i].threshold, owner.side_cost(sides[i].leaf[0], sides[i].stump[0], shares[0]),
                                owner.side_cost(sides[i].leaf[1], sides[i].stump[1], shares[1])});
            take(few, news);
            waiting_.clear();
        }
        for (int c = 0; c < home_.node.columns(); ++c)
            if (rounds_[c] == 0) waiting_.emplace(0, 0, c);
    }

    void run() {
        CrewWork::run();
        try {
            if (error_) std::rethrow_exception(error_);
        } catch (const SearchStopped&) {
            Control& control = owner_.context_.control;
            if (level == 0 && found_.column >= 0 && control.reason() != StopReason::none) {
                control.finish();
                write();
            }
            std::int64_t bound = std::min(question_.cutoff, out_.cost);
            for (const auto& column : solved_)
                for (std::size_t i = 0; i + 1 < column.size(); ++i)
                    bound = std::min(bound, owner_.between(0, column[i], column[i + 1]).bound);
            owner_.report_bound(level, question_, bound);
            throw;
        }
        write();
    }

private:
    using Lanes = std::vector<StumpScans::Lane>;

    void write() {
        if (found_.column >= 0 && question_.wanted != Wanted::cost)
            owner_.write_stumps(level, found_, question_, shares_, out_);
    }

    void join(ThresholdSearch& who) override {
        {
            const std::lock_guard guard(lock_);
            if (!loaded_.insert(&who).second) return;
        }
        who.scans_->load(home_.node);
    }

    // Thresholds of a column to solve next: all that are alive, or some spread over them.
    void pick(int c, Lanes& lanes) const {
        std::vector<Range> ranges;
        for (std::size_t i = 0; i + 1 < solved_[c].size(); ++i) {
            const Interval interval = owner_.between(c, solved_[c][i], solved_[c][i + 1]);
            ranges.push_back(owner_.alive(home_, interval, limit(question_, out_, found_, interval)));
        }
        spread(c, ranges, lanes);
    }

    // A column with many thresholds, or several with few of them. One without any is done: limits never rise.
    Lanes next() {
        Lanes lanes;
        while (!waiting_.empty() && (few_.empty() || std::get<0>(*waiting_.begin()) <= round_of_few_)) {
            const int c = std::get<2>(*waiting_.begin());
            waiting_.erase(waiting_.begin());
            pick(c, lanes);
            if (lanes.size() > kFewLanes) return lanes;
            const bool is_full = few_.size() + lanes.size() > StumpScans::kMost;
            if (is_full) few_.swap(lanes);
            if (is_full || few_.empty()) round_of_few_ = rounds_[c];
            if (is_full) return lanes;
            few_.insert(few_.end(), lanes.begin(), lanes.end());
        }
        return std::exchange(few_, {});
    }

    void work(ThresholdSearch& who) override {
        std::unique_lock guard(lock_);
        while (!error_) {
            const Lanes lanes = next();
            if (lanes.empty()) break;
            exhausted = waiting_.empty() && few_.empty();
            guard.unlock();
            if (&who == &owner_ && level == 0 && !shared_ && !exhausted && owner_.crew_ &&
                owner_.context_.control.elapsed() >= begin_ + kShortPairs && owner_.crew_->team.wants_work(level))
                share();
            const std::vector<Solved> news = who.scan(lanes, shares_);
            guard.lock();
            take(lanes, news);
            renew();
        }
        exhausted = true;
    }

    void take(const Lanes& lanes, const std::vector<Solved>& news) {
        for (std::size_t i = 0, first = 0; i < lanes.size(); ++i) {
            const auto [c, t] = lanes[i];
            const std::int64_t cost = news[i].left + news[i].right + owner_.split_cost_;
            if (cost < home_.best_cost[c]) home_.best_cost[c] = cost, home_.best[c] = t;
            if (cost < std::min(question_.cutoff, out_.cost + is_before(question_, c, t, found_)))
                owner_.take_pair(level, {c, t}, cost, question_, shares_, found_, out_);
            if (i + 1 < lanes.size() && lanes[i + 1].column == c) continue;
            std::vector<Solved> all;
            std::merge(solved_[c].begin(), solved_[c].end(), news.begin() + first, news.begin() + i + 1,
                       std::back_inserter(all),
                       [](const Solved& a, const Solved& b) { return a.threshold < b.threshold; });
            solved_[c] = std::move(all);
            waiting_.emplace(++rounds_[c], home_.best_cost[c], c);
            first = i + 1;
        }
    }

    Level& home_;           // whose node stays as it is meanwhile
    const Question& question_;
    const Shares& shares_;
    Outcome& out_;
    const double begin_ = owner_.context_.control.elapsed();
    Found found_;
    std::vector<std::vector<Solved>> solved_;                   // by column
    std::vector<int> rounds_;                                   // how many it has had
    std::set<std::tuple<int, std::int64_t, int>> waiting_;      // columns, by round, then by the least cost so far
    Lanes few_;             // of columns with few thresholds
    int round_of_few_ = 0;
    std::set<const ThresholdSearch*> loaded_;                   // who have joined before
};

void ThresholdSearch::search_pairs(int l, const Question& question, const Shares& shares, Outcome& out) {
    PairLoop(*this, l, question, shares, out).run();
}

void ThresholdSearch::spread(int c, const std::vector<Range>& ranges, std::vector<StumpScans::Lane>& lanes) {
    std::int64_t total = 0, before = 0, i = 0;
    for (const Range& range : ranges) total += range.size();
    const std::int64_t count = std::min<std::int64_t>(total, StumpScans::kMost);
    lanes.clear();
    for (const Range& range : ranges) {
        for (; i < count; ++i) {
            const std::int64_t position = (2 * i + 1) * total / (2 * count) - before;
            if (position >= range.size()) break;
            lanes.push_back({c, range.first + static_cast<int>(position)});
        }
        before += range.size();
    }
}

std::vector<ThresholdSearch::Solved> ThresholdSearch::scan(const std::vector<StumpScans::Lane>& lanes,
                                                           const Shares& shares) {
    StumpScans::Values values;
    scans_->solve(lanes.data(), static_cast<int>(lanes.size()), values);
    std::vector<Solved> news;
    for (std::size_t i = 0; i < lanes.size(); ++i)
        news.push_back({lanes[i].threshold, side_cost(values.leaf[0][i], values.stump[0][i], shares[0]),
                        side_cost(values.leaf[1][i], values.stump[1][i], shares[1])});
    return news;
}

// A threshold whose relaxed sides are below the limit.
void ThresholdSearch::take_pair(int l, const Found& pair, std::int64_t cost, const Question& question,
                                const Shares& shares, Found& found, Outcome& out) {
    if (counts(question.leaves)) {
        if (!allows(level(l).node, pair.column, pair.threshold)) return;
        cost = split_cost_;
        for (const bool right : {false, true}) {
            const Stump stump = side_stump(l, pair.column, pair.threshold, right, question.leaves);
            cost += side_cost(stump.leaf, stump.cost, shares[right]);
        }
        if (cost >= std::min(question.cutoff, out.cost + is_before(question, pair.column, pair.threshold, found))) return;
    }
    out.cost = cost;
    out.tree.clear();
    found = pair;
}

void ThresholdSearch::write_stumps(int l, const Found& found, const Question& question, const Shares& shares,
                                   Outcome& out) {
    const RankedNode& node = level(l).node;
    const int c = found.column, t = found.threshold;
    out.tree = {name(node, c, t)};
    for (const bool right : {false, true}) {
        const Stump stump = side_stump(l, c, t, right, question.leaves);
        if (shares[right].depth > 0 && stump.cost + split_cost_ < stump.leaf)
            out.tree.insert(out.tree.end(), {name(node, stump.column, stump.threshold), kLeaf, kLeaf});
        else
            out.tree.push_back(kLeaf);
    }
    report(l, question, out);
}

// ---- larger depths ----

// The intervals of a node, those of the least bound first, and those who join.
class ThresholdSearch::Loop final : public CrewWork<ThresholdSearch> {
public:
    Loop(ThresholdSearch& owner, int l, const Question& question, const Shares& shares, std::int64_t whole, Outcome& out)
        : CrewWork(owner, l), home_(owner.level(l)), question_(question), shares_(shares), whole_(whole), out_(out) {
        ++owner.context_.control.nodes;
        if (!home_.ranked) owner.rank(home_);
        order_.resize(home_.node.columns());
        std::iota(order_.begin(), order_.end(), 0);
        if (owner.context_.techniques.order) sort_by(order_, home_.best_cost);
    }

    void run() {
        CrewWork::run();
        owner_.report_bound(level, question_, bound());
        if (error_) std::rethrow_exception(error_);
        if (found_.column >= 0 && question_.wanted != Wanted::cost)
            out_.tree = owner_.write(level, found_, question_, shares_, question_.wanted);
    }

private:
    struct Task {
        Interval interval;
        int threshold;
    };

    void join(ThresholdSearch& who) override { who.join(level, home_); }

    std::int64_t limit(const Interval& interval) const {
        return ThresholdSearch::limit(question_, out_, found_, interval);
    }
    bool any() const {
        return !error_ && (next_ < order_.size() || (!open_.empty() && open_.top().bound <= out_.cost));
    }
    // The best thresholds of the columns come first.
    std::optional<Task> next() {
        while (any()) {
            if (next_ == order_.size()) {
                const Interval interval = open_.top();
                open_.pop();
                const Range range = owner_.alive(home_, interval, limit(interval));
                if (range.size() > 0) return Task{interval, range.middle()};
                continue;
            }
            const int c = order_[next_++], best = home_.best[c];
            const Interval all = owner_.between(c, {-1, 0, whole_}, {home_.node.groups(c) - 1, whole_, 0});
            const Range range = owner_.alive(home_, all, limit(all));
            if (range.first <= best && best <= range.last) return Task{all, best};
            if (range.size() > 0) open_.push(all);
        }
        return {};
    }

    void work(ThresholdSearch& who) override {
        std::unique_lock guard(lock_);
        while (const auto task = next()) {
            const auto& [interval, t] = *task;
            const std::int64_t below = limit(interval), cost = out_.cost;
            // It stays in the set if it is not done.
            const auto running = running_.insert(interval.bound);
            if (level == 0) owner_.report_bound(level, question_, bound());
            exhausted = !any();
            guard.unlock();
            if (&who == &owner_ && !shared_ && !exhausted && owner_.crew_ &&
                is_worth_sharing(home_.node) && owner_.crew_->team.wants_work(level))
                share();
            Attempt attempt = who.attempt(level, question_, shares_, interval, t, below, cost);
            guard.lock();
            running_.erase(running);
            open_.push(owner_.between(interval.column, interval.from, attempt.solved));
            open_.push(owner_.between(interval.column, attempt.solved, interval.to));
            take(std::move(attempt));
            if (any()) renew();
        }
        exhausted = true;
    }

    void take(Attempt attempt) {
        const Found& found = attempt.found;
        if (attempt.cost < out_.cost) {
            out_.cost = attempt.cost;
            out_.tree = std::move(attempt.tree);
            owner_.report(level, question_, out_);
        } else if (attempt.cost > out_.cost || !is_before(question_, found.column, found.threshold, found_)) {
            return;
        }
        found_ = found;
    }

    std::int64_t bound() const {
        std::int64_t bound = std::min(question_.cutoff, out_.cost);
        if (next_ < order_.size()) bound = std::min(bound, owner_.split_cost_);
        if (!running_.empty()) bound = std::min(bound, *running_.begin());
        return open_.empty() ? bound : std::min(bound, open_.top().bound);
    }

    struct Later {
        bool operator()(const Interval& a, const Interval& b) const {
            return std::tie(a.bound, a.column, a.from.threshold) > std::tie(b.bound, b.column, b.from.threshold);
        }
    };

    Level& home_;           // which stays as it is meanwhile
    const Question& question_;
    const Shares& shares_;
    const std::int64_t whole_;      // bound on the sides of the last thresholds
    Outcome& out_;
    std::vector<int> order_;        // of columns
    std::size_t next_ = 0;
    std::priority_queue<Interval, std::vector<Interval>, Later> open_;
    std::multiset<std::int64_t> running_;       // bounds
    Found found_;
};

void ThresholdSearch::search_intervals(int l, const Question& question, const Shares& shares, std::int64_t whole,
                                       Outcome& out) {
    Loop(*this, l, question, shares, whole, out).run();
}

bool ThresholdSearch::is_worth_sharing(const RankedNode& node) {
    return double(node.rows()) * node.columns() * node.columns() >= kLeastShared;
}

// Solves the sides of a threshold as far as that says something about the interval.
ThresholdSearch::Solved ThresholdSearch::solve_sides(int l, const Shares& shares, const Interval& interval, int t,
                                                     std::int64_t limit, Outcome (&sides)[2]) {
    const auto& [bound, c, from, to] = interval;
    // Where one side costs that much, everything between the threshold and one end is cut off.
    const std::int64_t most = context_.techniques.cutoffs ? limit - split_cost_ : kInfinite;
    const std::int64_t cutoffs[2] = {most - to.right, most - from.left};
    const std::int64_t known[2] = {from.left, to.right};
    bool is_known[2];
    for (int side = 0; side < 2; ++side) {
        sides[side].bound = known[side];
        is_known[side] = known[side] >= cutoffs[side];
        if (!is_known[side] && shares[side].depth > 0)
            is_known[side] = probe(level(l).node.side(context_.data, context_.costs, c, t, side),
                                   {shares[side], Leaves::any, cutoffs[side], Wanted::cost}, sides[side]);
    }
    // The threshold is cut off by what almost the same costs have shown. Its neighbours will be, too, by their own.
    if (!context_.is_walked && (is_known[0] || sides[0].is_close) && (is_known[1] || sides[1].is_close) &&
        sides[0].bound + sides[1].bound >= most)
        is_known[0] = is_known[1] = true;
    for (int side = 0; side < 2; ++side) {
        if (is_known[side] || sides[side].bound >= cutoffs[side]) continue;
        // A little more than needed, for almost the same costs of the next question.
        const std::int64_t cutoff = cutoffs[side] + cutoffs[side] / kSlack;
        enter(l, c, t, side);
        const std::int64_t before = sides[side].bound;
        search(l + 1, {shares[side], Leaves::any, cutoff, Wanted::cost}, sides[side]);
        sides[side].bound = std::max(sides[side].bound, before);
    }
    if (context_.is_walked)
        for (int side = 0; side < 2; ++side) sides[side].bound = std::min(sides[side].bound, cutoffs[side]);
    return {t, std::max(sides[0].bound, known[0]), std::max(sides[1].bound, known[1])};
}

// Wants trees below the limit. A tree for all rows that costs less than what is known is written down, in case of a stop.
ThresholdSearch::Attempt ThresholdSearch::attempt(int l, const Question& question, const Shares& shares,
                                                  const Interval& interval, int t, std::int64_t limit,
                                                  std::int64_t known) {
    const int c = interval.column;
    Outcome sides[2];
    Attempt out{solve_sides(l, shares, interval, t, limit, sides), {}, kInfinite, {}};
    if (out.solved.left + out.solved.right + split_cost_ >= limit) return out;
    // The relaxed sides are below the limit.
    if (counts(question.leaves)) {
        if (!allows(level(l).node, c, t)) return out;
        for (int side = 0; side < 2; ++side) {
            const std::int64_t cutoff = limit - split_cost_ - sides[!side].bound;
            sides[side].cost = kInfinite;
            search_side(l, c, t, side, {shares[side], question.leaves, cutoff, Wanted::cost}, sides[side]);
            if (sides[side].bound >= cutoff) return out;
        }
    }
    out.found = {c, t, {sides[0].cost, sides[1].cost}};
    out.cost = sides[0].cost + sides[1].cost + split_cost_;
    if (l == 0 && question.wanted != Wanted::cost && out.cost < known)
        out.tree = write(l, out.found, question, shares, Wanted::tree);
    return out;
}

void ThresholdSearch::search_side(int l, int c, int t, bool right, const Question& question, Outcome& out) {
    if (out.bound >= question.cutoff) return;
    const RankedNode& node = level(l).node;
    if (question.wanted == Wanted::cost && question.size.depth > 0 &&
        probe(node.side(context_.data, context_.costs, c, t, right), question, out))
        return;
    enter(l, c, t, right);
    const std::int64_t known = out.bound;
    search(l + 1, question, out);
    out.bound = std::max(out.bound, known);
}

// The costs of the sides are known, not their trees.
Preorder ThresholdSearch::write(int l, const Found& found, const Question& question, const Shares& shares,
                                Wanted wanted) {
    const auto& [c, t, costs] = found;
    Preorder tree{name(level(l).node, c, t)};
    for (const bool right : {false, true}) {
        Outcome side;
        search_side(l, c, t, right, {shares[right], question.leaves, costs[right] + 1, wanted}, side);
        tree.insert(tree.end(), side.tree.begin(), side.tree.end());
    }
    return tree;
}

// Do the leaves of a tree for all rows hold enough?
bool ThresholdSearch::qualifies(const Preorder& tree) const {
    std::vector<int> rows(context_.data.rows());
    std::iota(rows.begin(), rows.end(), 0);
    std::size_t at = 0;
    const auto check = [&](const auto& self, auto begin, auto end) -> bool {
        const int threshold = tree[at++];
        if (threshold == kLeaf) {
            std::int64_t weight = 0;
            for (auto r = begin; r != end; ++r) weight += context_.costs.weight(*r);
            return weight >= context_.costs.min_leaf_weight();
        }
        const auto middle = std::partition(begin, end, [&](int r) { return !context_.data.is_right(r, threshold); });
        return self(self, begin, middle) && self(self, middle, end);
    };
    return tree.size() == 1 || check(check, rows.begin(), rows.end());
}

bool ThresholdSearch::allows(const RankedNode& node, int c, int t) const {
    std::int64_t left = 0;
    for (int k = 0; k < node.ends(c)[t]; ++k) left += context_.costs.weight(node.row(node.order(c)[k]));
    const std::int64_t least = context_.costs.min_leaf_weight();
    return left >= least && node.weight() - left >= least;
}

}  // namespace goct
