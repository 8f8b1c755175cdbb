#include "proof.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "order.hpp"

namespace goct {

namespace {
constexpr std::size_t kTableBytes = std::size_t{64} << 20;
}

std::int32_t FactList::add(Fact fact) {
    bytes_ += sizeof(Fact) + 4 * (fact.path.capacity() + fact.basis.capacity()) + 8 * fact.value.capacity() + 64;
    if (bytes_ > most_bytes_) control_.run_out_of_memory();
    facts_.push_back(std::move(fact));
    return static_cast<std::int32_t>(facts_.size()) - 1;
}

Proof FactList::trimmed() const {
    std::vector<std::uint8_t> needed(facts_.size(), 0);
    needed.back() = 1;
    for (std::size_t i = facts_.size(); i-- > 0;)
        if (needed[i] && facts_[i].rule == Rule::split)
            for (const std::int32_t a : facts_[i].basis) needed[a] = 1;
    Proof proof;
    std::vector<std::int32_t> renamed(facts_.size(), -1);
    for (std::size_t i = 0; i < facts_.size(); ++i) {
        if (!needed[i]) continue;
        renamed[i] = static_cast<std::int32_t>(proof.size());
        proof.push_back(facts_[i]);
        if (facts_[i].rule == Rule::split)
            for (std::int32_t& a : proof.back().basis) a = renamed[a];
    }
    return proof;
}

std::string to_text(const Proof& proof) {
    std::string text;
    const auto list = [&](const auto& numbers) {
        char separator = '[';
        for (const auto number : numbers) text += separator + std::to_string(number), separator = ',';
        text += numbers.empty() ? "[]" : "]";
    };
    for (const Fact& fact : proof) {
        text += fact.rule == Rule::split ? "[\"split\"," : "[\"table\",";
        list(fact.path);
        text += ',' + (fact.depth == kProofAnyDepth ? "null" : std::to_string(fact.depth));
        text += fact.relaxed ? ",0," : ",1,";
        list(fact.value);
        text += ',';
        if (fact.rule == Rule::table)
            text += "null";
        else
            list(fact.basis);
        text += "]\n";
    }
    return text;
}

int fact_values(const Claim& claim, int depth) {
    if (!claim.max_splits) return 1;
    return depth > 30 ? *claim.max_splits + 1 : std::min(*claim.max_splits, (1 << depth) - 1) + 1;
}

Prover::Prover(const Problem& problem, const Costs& costs, const Claim& claim, Control& control)
    : problem_(problem),
      costs_(costs),
      control_(control),
      claim_(claim),
      constrained_(costs.min_leaf_weight() > 0),
      instance_(problem, costs, control),
      depth_two_(instance_, false, kTableBytes, control),
      allowed_depth_two_(instance_, true, kTableBytes, control),
      facts_(claim.most_bytes, control),
      archive_(claim.depth + 1),
      next_(claim.depth + 1, 0),
      known_(claim.depth + 1),
      known_allowed_(claim.depth + 1) {
    columns_.assign(problem.features(), Bits((problem.rows() + 63) / 64, 0));
    for (int r = 0; r < problem.rows(); ++r)
        for (const int* e = problem.entries_begin(r); e != problem.entries_end(r); ++e)
            columns_[*e][r / 64] |= std::uint64_t{1} << (r % 64);
    for (int f = problem.features() - 2; f >= 0; --f)
        if (problem.chain(f) == problem.chain(f + 1))
            for (std::size_t w = 0; w < columns_[f].size(); ++w) columns_[f][w] |= columns_[f + 1][w];
}

Prover::Level& Prover::level(int l) {
    while (static_cast<int>(levels_.size()) <= l) levels_.push_back(std::make_unique<Level>());
    return *levels_[l];
}

Proof Prover::prove() {
    level(0).node.make_root(instance_, splits_);
    search(0, claim_.depth, claim_.cutoffs);
    return facts_.trimmed();
}

// The depth of trees that can be below the best: those with more splits cannot pay them.
int Prover::usable(int depth, const Values& best) const {
    if (claim_.max_splits) return std::min(depth, *claim_.max_splits);
    if (costs_.split_cost() == 0) return depth;
    return static_cast<int>(std::clamp<std::int64_t>((best[0] - 1) / costs_.split_cost(), 0, depth));
}

Prover::Values Prover::values_of(const DepthTwoValues& values, int depth, int usable) const {
    if (claim_.max_splits) return {values.begin(), values.begin() + classes(depth)};
    std::int64_t least = values[0];
    for (int m = 1; m < 4; ++m) least = std::min(least, values[m] + m * costs_.split_cost());
    if (usable < depth) least = std::min(least, (usable + 1) * costs_.split_cost());
    return {least};
}

std::int32_t Prover::add(Fact fact, const Key& key) {
    fact.key = key;
    auto& known = (fact.relaxed ? known_ : known_allowed_)[fact.depth];
    return known[key] = facts_.add(std::move(fact));
}

std::vector<std::int32_t> Prover::extended(const Level& at, int f, bool inside) const {
    std::vector<std::int32_t> path = at.path;
    const int g = at.node.feature(f);
    path.push_back(2 * problem_.column(g) + (inside != problem_.flipped(g)));
    return path;
}

// The rows of the problem on the path of a fact.
Prover::Bits Prover::rows_of(const Fact& fact) const {
    Bits rows((problem_.rows() + 63) / 64, ~std::uint64_t{0});
    for (const std::int32_t step : fact.path) {
        int g = 0;
        while (problem_.column(g) != step / 2) ++g;
        const std::uint64_t outside = (step % 2 == 1) != problem_.flipped(g) ? 0 : ~std::uint64_t{0};
        for (std::size_t w = 0; w < rows.size(); ++w) rows[w] &= columns_[g][w] ^ outside;
    }
    return rows;
}

std::int64_t Prover::bound_of(const Level& at, bool inside, std::size_t i) const {
    return constrained_ ? std::max(at.bound[inside].value[i], at.allowed[inside].value[i]) : at.bound[inside].value[i];
}

// What trees cost that split by f, by class, given bounds on both sides by class and feature.
void Prover::sum_up(const Values& in, const Values& out, int f, int features, int side_classes, Values& sums) const {
    if (!claim_.max_splits) {
        sums[0] = in[f] + out[f] + costs_.split_cost();
        return;
    }
    for (int m = 1; m < static_cast<int>(sums.size()); ++m) {
        sums[m] = kInfinite;
        for (int i = 0; i < m && i < side_classes; ++i) {
            const int o = std::min(m - 1 - i, side_classes - 1);
            sums[m] = std::min(sums[m], in[std::size_t(i) * features + f] + out[std::size_t(o) * features + f]);
        }
    }
}

// Do the bounds on the sides of f leave nothing below the best? The sums are in sums_.
bool Prover::is_covered(const Level& at, int f, int depth, bool with_allowed) {
    const int features = at.node.features(), side_classes = classes(below(depth));
    sums_.assign(at.best.size(), kInfinite);
    if (with_allowed && constrained_) {
        in_.assign(side_classes, 0), out_.assign(side_classes, 0);
        for (int m = 0; m < side_classes; ++m) {
            in_[m] = bound_of(at, true, std::size_t(m) * features + f);
            out_[m] = bound_of(at, false, std::size_t(m) * features + f);
        }
        sum_up(in_, out_, 0, 1, side_classes, sums_);
    } else {
        sum_up(at.bound[1].value, at.bound[0].value, f, features, side_classes, sums_);
    }
    for (std::size_t m = 0; m < sums_.size(); ++m)
        if (sums_[m] < at.best[m]) return false;
    return true;
}

// The bounds on one side of f that would be enough, given those on the other.
Prover::Values Prover::wanted(const Level& at, int f, int depth, bool inside) const {
    const int features = at.node.features(), side_classes = classes(below(depth));
    Values cutoffs(side_classes, 0);
    if (!claim_.max_splits) {
        cutoffs[0] = std::max<std::int64_t>(0, at.best[0] - costs_.split_cost() - bound_of(at, !inside, f));
        return cutoffs;
    }
    for (int m = 1; m < static_cast<int>(at.best.size()); ++m)
        for (int i = 0; i < m && i < side_classes; ++i) {
            const int o = std::min(m - 1 - i, side_classes - 1);
            cutoffs[i] = std::max(cutoffs[i], at.best[m] - bound_of(at, !inside, std::size_t(o) * features + f));
        }
    return cutoffs;
}

std::int32_t Prover::search(int l, int depth, const Values& cutoffs) {
    Level& at = level(l);
    at.best.assign(classes(depth), at.node.leaf());
    for (std::size_t m = 0; m < at.best.size(); ++m) at.best[m] = std::min(at.best[m], std::max<std::int64_t>(cutoffs[m], 0));
    at.usable = usable(depth, at.best);
    if (at.usable <= 2) return solve_small(l, depth);
    ++control_.nodes;
    const std::size_t size = std::size_t(classes(below(depth))) * at.node.features();
    for (int side : {0, 1}) at.bound[side].reset(size), at.allowed[side].reset(constrained_ ? size : 0);
    try {
        control_.check();
        recall(l, depth);
        inherit(l, depth);
        rank(l);
        for (std::size_t i = 0; i < at.order.size() && !stopped_; ++i) attempt(l, depth, at.order[i]);
    } catch (const SearchStopped&) {
        stop();
        at.open.reset();
    }
    return conclude(l, depth);
}

// From now on only what is known counts.
void Prover::stop() {
    stopped_ = true;
    control_.finish();
}

std::int32_t Prover::solve_small(int l, int depth) {
    Level& at = level(l);
    DepthTwo& solver = constrained_ ? allowed_depth_two_ : depth_two_;
    const std::int64_t leaf = at.node.leaf();
    DepthTwoValues values{leaf, leaf, leaf, leaf};
    try {
        if (at.usable == 2) values = solver.solve(at.node, at.sides);
        if (at.usable == 1) values = solver.solve_stumps(at.node, at.sides);
    } catch (const SearchStopped&) {
        stop();
        values.fill(0);
    }
    ++control_.depth_two;
    return add({Rule::table, at.path, depth, !constrained_, values_of(values, depth, at.usable), {}}, at.node.total().key);
}

// The features by the cost of their best trees of depth two.
void Prover::rank(int l) {
    Level& at = level(l);
    at.open.reset();
    DepthTwoValues values;
    if (at.usable == 3 && at.node.features() > 0 && depth_two_.can_open(at.node))
        at.open = depth_two_.open(at.node, at.sides, values);
    else
        depth_two_.solve(at.node, at.sides);
    ++control_.depth_two;
    at.order.clear();
    std::vector<std::int64_t> costs;
    for (int f = 0; f < at.node.features(); ++f) {
        if (!constrained_ || at.node.allows(instance_, f)) at.order.push_back(f);
        costs.push_back(at.sides.inside_best[f] + at.sides.outside_best[f]);
    }
    sort_by(at.order, costs);
}

// Facts about the same row sets.
void Prover::recall(int l, int depth) {
    Level& at = level(l);
    const int features = at.node.features(), side_classes = classes(below(depth));
    for (int f = 0; f < features; ++f)
        for (const bool inside : {false, true}) {
            const Key key = inside ? at.node.inside(f).key : at.node.outside(f).key;
            const auto look = [&](const auto& known, Bounds& bounds) {
                const auto found = known[below(depth)].find(key);
                if (found == known[below(depth)].end()) return;
                const Values& value = facts_[found->second].value;
                for (int m = 0; m < side_classes; ++m)
                    bounds.raise(std::size_t(m) * features + f, value[m], found->second);
            };
            look(known_, at.bound[inside]);
            if (constrained_) look(known_allowed_, at.allowed[inside]);
        }
}

// Facts about the sides of similar nodes.
void Prover::inherit(int l, int depth) {
    Level& at = level(l);
    const int all = problem_.features(), features = at.node.features(), side_classes = classes(below(depth));
    Bits own((problem_.rows() + 63) / 64, 0);
    for (int r = 0; r < at.node.rows(); ++r) own[at.node.row(r) / 64] |= std::uint64_t{1} << (at.node.row(r) % 64);
    const std::int64_t limit = *std::ranges::max_element(at.best);
    std::vector<std::pair<std::int64_t, const Archived*>> matches;
    for (const Archived& entry : archive_[depth]) {
        std::int64_t loss = 0;
        for (std::size_t w = 0; w < own.size() && loss < limit; ++w)
            for (std::uint64_t lost = entry.rows[w] & ~own[w]; lost; lost &= lost - 1)
                loss += instance_.row(static_cast<int>(64 * w) + std::countr_zero(lost)).swing;
        if (loss < limit) matches.emplace_back(loss, &entry);
    }
    const auto kept = std::min(kMatches, matches.size());
    std::partial_sort(matches.begin(), matches.begin() + kept, matches.end());
    matches.resize(kept);
    Values lost_inside;
    for (const auto& [loss, entry] : matches) {
        lost_inside.assign(all + 1, 0);
        for (std::size_t w = 0; w < own.size(); ++w)
            for (std::uint64_t lost = entry->rows[w] & ~own[w]; lost; lost &= lost - 1) {
                const int r = static_cast<int>(64 * w) + std::countr_zero(lost);
                for (const int* e = problem_.entries_begin(r); e != problem_.entries_end(r); ++e)
                    lost_inside[*e] += instance_.row(r).swing;
            }
        for (int f = all - 2; f >= 0; --f)
            if (problem_.chain(f) == problem_.chain(f + 1)) lost_inside[f] += lost_inside[f + 1];
        for (int m = 0; m < side_classes; ++m)
            for (int f = 0; f < features; ++f) {
                const int g = at.node.feature(f);
                const std::size_t to = std::size_t(m) * features + f, from = std::size_t(m) * all + g;
                for (const bool inside : {false, true}) {
                    const std::int64_t less = inside ? lost_inside[g] : loss - lost_inside[g];
                    at.bound[inside].raise(to, entry->bound[inside].value[from] - less, entry->bound[inside].from[from]);
                }
            }
    }
}

// Raises bounds on the sides of f until they are enough, or lowers the best.
void Prover::attempt(int l, int depth, int f) {
    Level& at = level(l);
    if (is_covered(at, f, depth, true)) return;
    const auto give_up = [&] { return stopped_ || is_covered(at, f, depth, true); };
    const bool first = at.node.inside(f).swing >= at.node.outside(f).swing;
    for (const bool inside : {first, !first}) {
        solve_side(l, depth, f, inside);
        if (give_up()) return;
    }
    if (constrained_ && at.usable == 3)
        for (const bool inside : {first, !first}) {
            solve_table(l, depth, f, inside, true);
            if (give_up()) return;
        }
    if (l == 0 && claim_.thorough) return;
    for (std::size_t m = 0; m < sums_.size(); ++m) at.best[m] = std::min(at.best[m], sums_[m]);
}

void Prover::solve_side(int l, int depth, int f, bool inside) {
    Level& at = level(l);
    const int features = at.node.features(), side_classes = classes(below(depth));
    const Values cutoffs = wanted(at, f, depth, inside);
    bool enough = true;
    for (int m = 0; m < side_classes; ++m)
        enough = enough && bound_of(at, inside, std::size_t(m) * features + f) >= cutoffs[m];
    if (enough) return;
    if (at.usable == 3) {
        solve_table(l, depth, f, inside, false);
        return;
    }
    Level& child = level(l + 1);
    child.node.make_child(instance_, at.node, f, inside, splits_);
    child.path = extended(at, f, inside);
    // A little beyond what is needed here: a stronger fact serves more of the similar row sets.
    Values beyond = cutoffs;
    for (std::int64_t& cutoff : beyond) cutoff += cutoff / 4;
    if (usable(below(depth), beyond) > usable(below(depth), cutoffs)) beyond = cutoffs;
    const std::int32_t fact = search(l + 1, below(depth), beyond);
    if (facts_[fact].relaxed) {
        learn(at, f, inside, fact);
    } else {
        for (int m = 0; m < side_classes; ++m)
            at.allowed[inside].raise(std::size_t(m) * features + f, facts_[fact].value[m], fact);
    }
}

// A side of a node of depth three.
void Prover::solve_table(int l, int depth, int f, bool inside, bool weighted) {
    Level& at = level(l);
    const int features = at.node.features();
    const Key key = inside ? at.node.inside(f).key : at.node.outside(f).key;
    ++control_.depth_two;
    control_.check();
    DepthTwoValues values;
    if (!weighted && at.open) {
        values = depth_two_.solve_side(*at.open, f, inside, inside ? at.sides.inside_leaf[f] : at.sides.outside_leaf[f]);
    } else {
        Level& child = level(l + 1);
        child.node.make_child(instance_, at.node, f, inside, splits_);
        values = (weighted ? allowed_depth_two_ : depth_two_).solve(child.node, child.sides);
    }
    const int side = below(depth);
    const std::int32_t fact = add({Rule::table, extended(at, f, inside), side, !weighted, values_of(values, side, 2), {}}, key);
    if (!weighted) {
        learn(at, f, inside, fact);
        return;
    }
    for (std::size_t m = 0; m < facts_[fact].value.size(); ++m)
        at.allowed[inside].raise(m * features + f, facts_[fact].value[m], fact);
}

// What a fact about a side of f says about the sides of all features.
void Prover::learn(Level& at, int f, bool inside, std::int32_t fact) {
    const Node& node = at.node;
    const int features = node.features();
    overlaps(at, f);
    const Values& value = facts_[fact].value;
    const std::int64_t whole = inside ? node.inside(f).swing : node.outside(f).swing;
    for (std::size_t m = 0; m < value.size(); ++m)
        for (int j = 0; j < features; ++j) {
            const std::int64_t both = inside ? at.overlap[j] : node.inside(j).swing - at.overlap[j];
            at.bound[1].raise(m * features + j, value[m] - (whole - both), fact);
            at.bound[0].raise(m * features + j, value[m] - both, fact);
        }
}

// The swings of the rows inside both f and each other feature.
void Prover::overlaps(Level& at, int f) {
    if (at.open)
        depth_two_.overlaps(*at.open, f, at.overlap);
    else
        at.node.overlaps(instance_, f, nullptr, at.overlap);
}

std::int32_t Prover::conclude(int l, int depth) {
    Level& at = level(l);
    const Values goal = at.best;
    for (int f = 0; f < at.node.features(); ++f) {
        if ((constrained_ && !at.node.allows(instance_, f)) || is_covered(at, f, depth, true)) continue;
        for (std::size_t m = 0; m < sums_.size(); ++m) at.best[m] = std::min(at.best[m], sums_[m]);
    }
    bool relaxed = true;
    if (constrained_)
        for (int f = 0; f < at.node.features() && relaxed; ++f) relaxed = is_covered(at, f, depth, false);
    Archived* entry = nullptr;
    if (archive_[depth].size() < kArchived)
        entry = &archive_[depth].emplace_back();
    else
        entry = &archive_[depth][next_[depth]];
    next_[depth] = (next_[depth] + 1) % kArchived;
    entry->rows.assign((problem_.rows() + 63) / 64, 0);
    for (int r = 0; r < at.node.rows(); ++r) entry->rows[at.node.row(r) / 64] |= std::uint64_t{1} << (at.node.row(r) % 64);
    const std::size_t all = problem_.features(), features = at.node.features(), side_classes = classes(below(depth));
    for (const int side : {0, 1}) {
        entry->bound[side].reset(side_classes * all);
        for (std::size_t m = 0; m < side_classes; ++m)
            for (std::size_t f = 0; f < features; ++f) {
                const std::size_t from = m * features + f;
                entry->bound[side].raise(m * all + at.node.feature(static_cast<int>(f)), at.bound[side].value[from],
                                         at.bound[side].from[from]);
            }
    }
    std::vector<std::int32_t> anchors = choose(at, depth, relaxed, l == 0 && claim_.thorough ? goal : at.best);
    return add({Rule::split, at.path, depth, relaxed, at.best, std::move(anchors)}, at.node.total().key);
}

// Few of the facts that the bounds come from, but enough for a goal, or what is known of it.
std::vector<std::int32_t> Prover::choose(Level& at, int depth, bool relaxed, const Values& goal) {
    const int features = at.node.features(), side_classes = classes(below(depth));
    std::vector<std::pair<std::int64_t, int>> slack;
    for (int f = 0; f < features; ++f) {
        if (!relaxed && !at.node.allows(instance_, f)) continue;
        is_covered(at, f, depth, !relaxed);
        std::int64_t least = kInfinite;
        for (std::size_t m = 0; m < sums_.size(); ++m) least = std::min(least, sums_[m] - goal[m]);
        slack.emplace_back(least, f);
    }
    std::ranges::sort(slack);
    sides_.clear();
    for (int f = 0; f < features; ++f) {
        sides_.emplace(at.node.inside(f).key, 2 * f + 1);
        sides_.emplace(at.node.outside(f).key, 2 * f);
    }
    Values current[2];
    for (Values& bounds : current) bounds.assign(std::size_t(side_classes) * features, 0);
    std::vector<std::int32_t> chosen;
    const auto covers = [&](int f) {
        sums_.assign(at.best.size(), kInfinite);
        sum_up(current[1], current[0], f, features, side_classes, sums_);
        for (std::size_t m = 0; m < sums_.size(); ++m)
            if (sums_[m] < goal[m]) return false;
        return true;
    };
    for (const auto& [_, f] : slack)
        for (int i = 0; i < 2 * side_classes && !covers(f); ++i) {
            const bool inside = i % 2;
            const std::size_t place = std::size_t(i / 2) * features + f;
            const bool special = !relaxed && at.allowed[inside].value[place] > at.bound[inside].value[place];
            const Bounds& bounds = special ? at.allowed[inside] : at.bound[inside];
            if (bounds.value[place] <= current[inside][place]) continue;
            const std::int32_t fact = bounds.from[place];
            if (std::ranges::find(chosen, fact) == chosen.end()) {
                chosen.push_back(fact);
                if (facts_[fact].relaxed) use(at, fact, current);
            }
            if (!facts_[fact].relaxed)
                for (int m = 0; m < side_classes; ++m) {
                    std::int64_t& bound = current[inside][std::size_t(m) * features + f];
                    bound = std::max(bound, facts_[fact].value[m]);
                }
        }
    std::ranges::sort(chosen);
    return chosen;
}

// Raises bounds by class and feature by what a fact about any row set says.
void Prover::use(Level& at, std::int32_t fact, Values (&current)[2]) {
    const Node& node = at.node;
    const int features = node.features();
    const Values& value = facts_[fact].value;
    const auto raise = [&](std::int64_t whole, std::int64_t shared, auto&& both) {
        for (std::size_t m = 0; m < value.size(); ++m)
            for (int f = 0; f < features; ++f) {
                std::int64_t &in = current[1][m * features + f], &out = current[0][m * features + f];
                in = std::max(in, value[m] - (whole - both(f)));
                out = std::max(out, value[m] - (whole - (shared - both(f))));
            }
    };
    if (const auto side = sides_.find(facts_[fact].key); side != sides_.end()) {
        const int f = side->second / 2;
        const bool inside = side->second % 2;
        overlaps(at, f);
        const std::int64_t whole = inside ? node.inside(f).swing : node.outside(f).swing;
        raise(whole, whole, [&](int j) { return inside ? at.overlap[j] : node.inside(j).swing - at.overlap[j]; });
        return;
    }
    const Bits rows = rows_of(facts_[fact]);
    std::int64_t whole = 0, shared = 0;
    for (std::size_t w = 0; w < rows.size(); ++w)
        for (std::uint64_t bits = rows[w]; bits; bits &= bits - 1) {
            const int r = static_cast<int>(64 * w) + std::countr_zero(bits);
            if (r < problem_.rows()) whole += instance_.row(r).swing;
        }
    at.overlap.assign(features, 0);
    for (int r = 0; r < node.rows(); ++r) {
        if (!(rows[node.row(r) / 64] >> (node.row(r) % 64) & 1)) continue;
        const std::int64_t swing = instance_.row(node.row(r)).swing;
        shared += swing;
        for (const int* e = node.entries_begin(r); e != node.entries_end(r); ++e) at.overlap[*e] += swing;
    }
    for (int f = features - 2; f >= 0; --f)
        if (node.chain_begin()[f] == node.chain_begin()[f + 1]) at.overlap[f] += at.overlap[f + 1];
    raise(whole, shared, [&](int f) { return at.overlap[f]; });
}

}  // namespace goct
