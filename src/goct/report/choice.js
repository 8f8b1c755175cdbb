// Which tree of a size answers a wish, and whether it is proven that no other answers it better.
const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

const STOPPED = "the search was stopped by a limit";
const UNFINISHED = "not all trades between misses and false alarms were found in time, so a better tree may exist";

// The largest by a function.
const top = (places, score) => places.reduce((a, b) => score(b) > score(a) ? b : a);

// The tree that was pointed at.
const pointedAt = (size, state) => {
  const tree = size.points[Math.min(state.point, size.points.length - 1)];
  return { tree, proven: size.hasFront || size.hasHull && size.hull.includes(tree), why: UNFINISHED };
};

// The trees to choose among: where not all of a size are known, smaller ones may do.
const treesOf = (data, size) => {
  const sizes = size.hasFront ? [size] : data.sizes.filter((other) => other.splits <= size.splits).reverse();
  return [...new Set(sizes.flatMap((other) => [...other.points, other.best]))];
};

// What the trees of a page are compared by, given a wish.
const scoreOf = (data, state) => {
  if (state.mode === "cost") {
    const cost = readCost(state);
    return (tree) => -cost(tree.train);
  }
  if (state.goal === data.metric) return (tree) => tree.value;
  if (!(state.goal in METRICS)) throw new Error(`there is no metric ${state.goal} here`);
  return (tree) => METRICS[state.goal](tree.train);
};

// The best tree of a size that keeps what has to hold, or, if there is none, the best without.
const choose = (data, size, state) => {
  const { trees } = data;
  const hasParts = trees.some((tree) => tree.train?.some((cell) => !Number.isInteger(cell)));
  const limits = readLimits(state.keep, hasParts), score = scoreOf(data, state);
  const isLearned = state.mode === "goal" && state.goal === data.metric && state.keep === data.keep;
  if (isLearned) return { tree: size.best, proven: size.proven, why: STOPPED };
  if (state.mode === "hand" && size.points.length) return pointedAt(size, state);
  const keeps = (t) => limits.every((limit) => limit.isKept(trees[t].train));
  const isMonotone = limits.every((limit) => limit.isMonotone);
  const all = treesOf(data, size);
  const kept = all.filter(keeps), byScore = (t) => score(trees[t]);
  if (!kept.length) return { tree: size.best, fails: true, proven: isMonotone && size.hasFront, why: UNFINISHED };
  const isOwn = state.mode === "goal" && state.goal === data.metric;
  const onHull = state.mode === "cost" || (isOwn ? data.onHull : !INSIDE_HULL.has(state.goal));
  const tree = top(kept, byScore);
  // What is best without limits, and keeps them, is best with them.
  const isFree = byScore(tree) >= byScore(top(all, byScore));
  const proven = size.hasFront && isMonotone && (data.onFront || !isOwn) || size.hasHull && onHull && isFree;
  return { tree, proven, why: isMonotone ? UNFINISHED : "with a limit on what is good, the best tree need not be among those that no other beats" };
};
