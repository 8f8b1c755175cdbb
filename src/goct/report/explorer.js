const byId = (id) => document.getElementById(id);
const short = (value) => value === null || Number.isNaN(value) ? "not defined"
  : Math.abs(value) < 100 ? value.toFixed(4) : value.toPrecision(6);
const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

// Metrics of the four cells of a confusion matrix.
const METRICS = {
  accuracy: ([tp, fp, fn, tn]) => (tp + tn) / (tp + fp + fn + tn),
  balanced_accuracy: ([tp, fp, fn, tn]) => (tp / (tp + fn) + tn / (tn + fp)) / 2,
  recall: ([tp, , fn]) => tp / (tp + fn),
  specificity: ([, fp, , tn]) => tn / (tn + fp),
  precision: ([tp, fp]) => tp + fp ? tp / (tp + fp) : 0,
  npv: ([, , fn, tn]) => fn + tn ? tn / (fn + tn) : 0,
  f1: ([tp, fp, fn]) => 2 * tp / (2 * tp + fp + fn),
  f2: ([tp, fp, fn]) => 5 * tp / (5 * tp + fp + 4 * fn),
  "f0.5": ([tp, fp, fn]) => 1.25 * tp / (1.25 * tp + fp + 0.25 * fn),
  jaccard: ([tp, fp, fn]) => tp / (tp + fp + fn),
  mcc: ([tp, fp, fn, tn]) => {
    const spread = Math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn));
    return spread ? (tp * tn - fp * fn) / spread : 0;
  },
  gmean: ([tp, fp, fn, tn]) => Math.sqrt(tp / (tp + fn) * tn / (tn + fp)),
};
const CELLS = { tp: 0, fp: 1, fn: 2, tn: 3 };

// The text of the data, which is packed.
const unpack = async (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
};

const svg = (parent, kind, attributes, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
};

// A chart with axes: returns how values become pixels.
const chart = (place, [x0, x1], [y0, y1], names, wholeX) => {
  place.replaceChildren();
  const x = (value) => 46 + 400 * (value - x0) / (x1 - x0 || 1);
  const y = (value) => 252 - 236 * (value - y0) / (y1 - y0 || 1);
  const digits = (span) => span > 0.4 ? 2 : span > 0.04 ? 3 : 4;
  for (let i = 0; i <= 4; i += 1) {
    const value = y0 + (y1 - y0) * i / 4;
    svg(place, "path", { class: "axis-line", d: `M46 ${y(value)}H446` });
    svg(place, "text", { class: "tick", x: 40, y: y(value) + 4, "text-anchor": "end" }, value.toFixed(digits(y1 - y0)));
  }
  const steps = wholeX ? x1 - x0 : 4;
  for (let i = 0; i <= steps; i += Math.ceil(steps / 8) || 1) {
    const value = x0 + (x1 - x0) * i / (steps || 1);
    svg(place, "text", { class: "tick", x: x(value), y: 268, "text-anchor": "middle" },
      wholeX ? value : value.toFixed(digits(x1 - x0)));
  }
  svg(place, "text", { class: "tick", x: 446, y: 284, "text-anchor": "end" }, names[0]);
  svg(place, "text", { class: "tick", x: 46, y: 10 }, names[1]);
  const frame = svg(svg(place, "clipPath", { id: `${place.id}-frame` }), "rect", { x: 40, y: 10, width: 412, height: 248 });
  const inside = svg(place, "g", { "clip-path": `url(#${frame.parentElement.id})` });
  return [x, y, inside];
};

const curve = (place, kind, points) => points.length > 1
  && svg(place, "path", { class: `series ${kind}`, d: "M" + points.map((p) => p.join(" ")).join("L") });

const start = (data) => {
  const { sizes, trees, classes, positive, rows } = data;
  const hasPoints = byId("point") !== null;
  const hasTest = trees[0].tested !== null;
  const value = (tree, metric, part) => metric === data.metric
    ? (part === "train" ? tree.value : tree.test)
    : tree[part] && tree[part].cells ? METRICS[metric](tree[part].cells) : null;

  // The smallest size whose validated score is within a standard error of the best one's.
  const suggested = () => {
    const known = sizes.map((size, i) => [size.validation, i]).filter(([found]) => found);
    if (!known.length) return sizes.findIndex((size) => trees[size.best].value === trees[sizes.at(-1).best].value);
    const [mean, error] = known.reduce((a, b) => b[0][0] > a[0][0] ? b : a)[0];
    return known.find(([found]) => found[0] >= mean - error)[1];
  };
  const DEFAULTS = {
    size: suggested(), mode: "goal", point: 0, goal: data.metric, fn: "1", fp: "1", prevalence: "",
    keep: "", curve: "roc", row: "",
  };
  let state = { ...DEFAULTS };
  let shownTree = -1;
  let choose = () => {};

  // ---- what is asked for, and which tree answers it
  const readKeep = (text) => text.split(/[,;]/).map((part) => part.trim()).filter(Boolean).map((part) => {
    const found = /^([a-z0-9_.]+)\s*(>=|<=|≥|≤)\s*([0-9.]+)(\s*%)?$/i.exec(part);
    const name = found && found[1].toLowerCase();
    if (!found || !(name in METRICS || name in CELLS) || Number.isNaN(Number(found[3]))) {
      throw new Error(`“${part}” is not understood: write a metric or tp, fp, fn, tn, then >= or <=, then a number`);
    }
    const least = found[2] === ">=" || found[2] === "≥";
    const bound = Number(found[3]) / (found[4] ? 100 : 1);
    const of = (cells) => name in CELLS ? cells[CELLS[name]] : METRICS[name](cells);
    // Floats of whole numbers: a bound that is met exactly must not fail by a rounding error.
    const isKept = (cells) => least ? of(cells) >= bound - 1e-12 : of(cells) <= bound + 1e-12;
    return { isKept, isMonotone: (name === "fp" || name === "fn") !== least };
  });

  const select = (size) => {
    if (!hasPoints || !size.points.length) return { tree: size.best, words: "", proven: size.proven };
    const all = [...new Set([...size.points, size.best])];
    if (state.mode === "hand") {
      const at = Math.min(state.point, size.points.length - 1);
      return { tree: size.points[at], words: "", proven: size.hasHull };
    }
    const limits = readKeep(state.keep);
    const kept = all.filter((t) => limits.every((limit) => limit.isKept(trees[t].train.cells)));
    const monotone = limits.every((limit) => limit.isMonotone);
    const proven = (needsFront) => monotone && (needsFront || limits.length ? size.hasFront : size.hasHull);
    if (!kept.length) {
      return { tree: size.best, words: `No tree ${proven(true) ? "" : "that is shown "}with at most ${plural(size.splits, "split")} keeps ${state.keep}${proven(true) ? "; that is proven" : ""}. Shown is the best without that.`, proven: false, fails: true };
    }
    if (state.mode === "cost") {
      const price = ["fn", "fp"].map((name) => Number(state[name].replace(",", ".")));
      if (price.some((number) => !(number >= 0))) throw new Error("prices must be numbers that are not negative");
      const cost = (t) => {
        const [tp, fp, fn, tn] = trees[t].train.cells;
        const share = state.prevalence === "" ? (tp + fn) / (tp + fp + fn + tn) : Number(state.prevalence.replace(",", ".")) / 100;
        if (!(share >= 0 && share <= 1)) throw new Error("the share must be between 0 and 100 %");
        return share * price[0] * fn / (tp + fn) + (1 - share) * price[1] * fp / (fp + tn);
      };
      const tree = kept.reduce((a, b) => cost(b) < cost(a) ? b : a);
      return { tree, words: `It costs ${cost(tree).toPrecision(4)} per row`, proven: proven(false) };
    }
    if (state.goal !== data.metric && !(state.goal in METRICS)) throw new Error(`there is no metric ${state.goal} here`);
    const score = (t) => value(trees[t], state.goal, "train");
    const tree = kept.reduce((a, b) => score(b) > score(a) ? b : a);
    const isGoal = state.goal === data.metric && !limits.length;
    return { tree, words: "", proven: isGoal ? size.proven : proven(state.goal === "gmean") };
  };

  // ---- the two charts
  const drawSizes = () => {
    const place = byId("sizes");
    const series = {
      best: sizes.map((size) => trees[size.best].value),
      validation: sizes.map((size) => size.validation && size.validation[0]),
      test: sizes.map((size) => trees[size.best].test),
      cart: sizes.map((size) => size.cart.values[0]),
    };
    // A single leaf may be so much worse that nothing else could be told apart.
    const first = sizes.length > 2 ? 1 : 0;
    const ours = [series.best, series.validation, series.test].flatMap((values) => values.slice(first)).filter((number) => number !== null);
    const high = Math.max(...ours, ...series.cart.filter((number) => number !== null));
    const low = Math.min(...ours), room = (high - low) * 0.1 || 0.01;
    const last = sizes.at(-1).splits;
    const [x, y, inside] = chart(place, [0, last], [low - room, high + room], ["splits, at most", data.metric], true);
    svg(inside, "path", { class: "now-line", d: `M${x(sizes[state.size].splits)} 16V252` });
    sizes.forEach((size) => {
      if (!size.validation) return;
      const [mean, error] = size.validation;
      svg(inside, "path", { class: "series validation", d: `M${x(size.splits)} ${y(mean - error)}V${y(mean + error)}` });
    });
    for (const [kind, values] of Object.entries(series)) {
      const known = sizes.map((size, i) => [x(size.splits), values[i]]).filter((p) => p[1] !== null);
      curve(inside, kind, known.map(([at, number]) => [at, y(number)]));
      if (kind !== "cart") {
        for (const [at, number] of known) svg(inside, "circle", { class: `spot ${kind}`, cx: at, cy: y(number), r: 3.5 });
      }
    }
    sizes.forEach((size, i) => {
      const target = svg(place, "rect", { class: "target", x: x(size.splits) - 200 / (last || 1), y: 0, width: 400 / (last || 1), height: 290 });
      target.addEventListener("click", () => resize(i));
    });
  };

  const drawPoints = (now) => {
    const place = byId("points"), size = sizes[state.size];
    const isRoc = state.curve === "roc";
    const where = ([tp, fp, fn, tn]) => isRoc ? [fp / (fp + tn), tp / (tp + fn)] : [tp / (tp + fn), tp + fp ? tp / (tp + fp) : 1];
    // The corner where trees of this size are, without those that say the same to every row.
    const real = size.points.concat(now).map((t) => where(trees[t].train.cells)).filter(([a, b]) => isRoc ? a < 1 && b > 0 : a > 0 && b < 1 || a < 1);
    const span = (axis) => {
      const all = real.map((p) => p[axis]), room = Math.max(...all) - Math.min(...all) || 0.2;
      return [Math.max(0, Math.min(...all) - 0.15 * room), Math.min(1, Math.max(...all) + 0.15 * room)];
    };
    const [across, up] = real.length ? [span(0), span(1)] : [[0, 1], [0, 1]];
    const [x, y, inside] = chart(place, across, up, isRoc ? ["false positive rate", "recall"] : ["recall", "precision"], false);
    const at = (cells) => { const [a, b] = where(cells); return [x(a), y(b)]; };
    const inOrder = (list) => list.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (const [part, greedy] of (size.cart.curves || []).entries()) {
      const [fpAll, tpAll] = greedy.at(-1);
      curve(inside, part ? "cart held" : "cart", inOrder(greedy.slice(isRoc ? 0 : 1).map(([fp, tp]) => at([tp, fp, tpAll - tp, fpAll - fp]))));
    }
    curve(inside, "best", inOrder(size.hull.map((t) => at(trees[t].train.cells))));
    if (hasTest) {
      for (const t of size.points) {
        const [cx, cy] = at(trees[t].tested.cells);
        svg(inside, "circle", { class: "spot test", cx, cy, r: t === now ? 5 : 2.5 });
      }
    }
    const hull = new Set(size.hull);
    for (const t of new Set([...size.points, now])) {
      const [cx, cy] = at(trees[t].train.cells);
      const kind = `spot best${hull.has(t) ? "" : " inner"}${t === now ? " now" : ""}`;
      svg(inside, "circle", { class: kind, cx, cy, r: t === now ? 6 : hull.has(t) ? 4 : 3 });
    }
    size.points.forEach((t, i) => {
      const [cx, cy] = at(trees[t].train.cells);
      svg(inside, "circle", { class: "target", cx, cy, r: 9 }).addEventListener("click", () => change({ mode: "hand", point: i }));
    });
  };

  // ---- words and numbers
  const summary = (size, found) => {
    const tree = trees[found.tree];
    const parts = [];
    parts.push(`${plural(tree.splits, "split")}${tree.splits < size.splits ? ` of the ${size.splits} that are allowed` : ""}, depth ${tree.depth}; ${data.metric} ${short(tree.value)} on the training data${hasTest ? `, ${short(tree.test)} on the test data` : ""}.`);
    if (found.words) parts.push(found.words + (found.words.endsWith(".") ? "" : "."));
    if (!found.fails) {
      parts.push(found.proven
        ? (state.mode === "hand" ? "No tree of this size beats it in both kinds of error: proven." : "No tree of this size is better for that: proven.")
        : "That is the best found, not proven.");
    }
    if (size.validation) {
      parts.push(`The best trees of this size reach ${size.validation[0].toFixed(4)} ± ${size.validation[1].toFixed(4)} in the folds${state.size === suggested() ? "; no smaller size comes within a standard error of the best" : ""}.`);
    }
    const best = trees[size.best], largest = trees[sizes.at(-1).best];
    const less = (other, words) => {
      const loss = other.value - tree.value;
      if (Math.abs(loss) > 5e-5) parts.push(`${words} has ${Math.abs(loss).toFixed(4)} ${loss > 0 ? "more" : "less"} ${data.metric}.`);
    };
    if (found.tree !== size.best) less(best, `The best tree of this size for ${data.metric}${state.keep && state.mode !== "hand" ? " without that constraint" : ""}`);
    if (size !== sizes.at(-1)) less(largest, `The best one with ${plural(sizes.at(-1).splits, "split")}`);
    if (size.cart.values[0] !== null) less({ value: size.cart.values[0] }, `CART with ${plural(size.cart.splits, "split")}`);
    if (hasPoints && tree.train.cells) {
      const [tp, fp, fn, tn] = tree.train.cells;
      parts.push(`Of ${tp + fn} rows of “${classes[positive]}” it misses ${fn}; of ${fp + tn} others it takes ${fp} for “${classes[positive]}”.`);
      const place = size.points.indexOf(found.tree);
      const beside = (other, words) => {
        if (other === undefined) return;
        const [, fp2, fn2] = trees[other].train.cells;
        parts.push(`The next ${words} one misses ${Math.abs(fn2 - fn)} ${fn2 < fn ? "fewer" : "more"} and has ${Math.abs(fp2 - fp)} ${fp2 < fp ? "fewer" : "more"} false alarms.`);
      };
      if (place >= 0) { beside(size.points[place - 1], "braver"); beside(size.points[place + 1], "more careful"); }
    }
    byId("summary").textContent = parts.join(" ");
  };

  const wilson = (part, total) => {
    const z = 1.959964, share = part / total, n = total;
    const middle = share + z * z / (2 * n), spread = z * Math.sqrt(share * (1 - share) / n + z * z / (4 * n * n));
    return [middle - spread, middle + spread].map((end) => Math.min(1, Math.max(0, end / (1 + z * z / n))));
  };
  const SHARES = {
    accuracy: ([tp, fp, fn, tn]) => [tp + tn, tp + fp + fn + tn], recall: ([tp, , fn]) => [tp, tp + fn],
    specificity: ([, fp, , tn]) => [tn, tn + fp], precision: ([tp, fp]) => [tp, tp + fp],
    npv: ([, , fn, tn]) => [tn, tn + fn],
  };

  const drawNumbers = (tree) => {
    const table = byId("numbers");
    table.replaceChildren();
    const cell = (row, kind, text) => {
      const made = document.createElement(kind);
      if (kind === "th") made.scope = row.parentElement.tagName === "THEAD" ? "col" : "row";
      made.textContent = text;
      row.append(made);
    };
    const head = table.createTHead().insertRow();
    for (const text of ["", "training", ...(hasTest ? ["test", "95 % interval, test"] : [])]) cell(head, text ? "th" : "td", text);
    const body = table.createTBody();
    const names = [data.metric, ...Object.keys(METRICS).filter((name) => tree.train.cells && name !== data.metric)];
    for (const name of names) {
      const row = body.insertRow();
      if (name === data.metric) row.className = "goal";
      cell(row, "th", name.replaceAll("_", " "));
      cell(row, "td", short(value(tree, name, "train")));
      if (!hasTest) continue;
      cell(row, "td", short(name === data.metric ? tree.test : METRICS[name](tree.tested.cells)));
      const counted = name in SHARES && tree.tested.cells ? SHARES[name](tree.tested.cells)
        : name === "accuracy" ? [tree.tested.right, tree.tested.total] : null;
      cell(row, "td", counted && counted[1] ? wilson(...counted).map((end) => end.toFixed(3)).join(" to ") : "");
    }
  };

  // ---- one row through the tree
  const day = (text) => {
    const parts = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d(?:\.\d{1,6})?))?)?$/.exec(text);
    return parts ? `${parts[1]} ${parts[2] || "00:00"}:${parts[3] || "00"}` : null;
  };
  const holds = (condition, given) => {
    if (condition.kind === "missing") return given === null;
    if (given === null) return false;
    if (condition.kind === "above") return Number(given) > condition.threshold;
    if (condition.kind === "after") return day(String(given)) > day(condition.moment.slice(0, 26));
    if (condition.levels) return condition.levels.includes(String(given));
    return given === true || given === "true" || given === 1;
  };

  const readCells = (tree) => {
    const found = {};
    for (const input of byId("cells").querySelectorAll("[data-column]")) {
      const name = input.dataset.column, text = input.value.trim(), { kind } = tree.columns[name];
      let given = text === "" ? null : text;
      if (given !== null && kind === "number") given = Number(text.replace(",", "."));
      if ((kind === "number" && Number.isNaN(given)) || (kind === "date" && given !== null && !day(given))) {
        throw new Error(`${name} must be ${kind === "number" ? "a number" : "a date such as 2024-03-01"}`);
      }
      found[name] = given;
    }
    return found;
  };

  const failing = (tree, clause, cells) => {
    const given = cells[clause.column];
    return !(clause.met.every((i) => holds(tree.conditions[i], given)) && clause.unmet.every((i) => !holds(tree.conditions[i], given)));
  };

  // How far a number is from where a clause wants it, relative to the thresholds of its column.
  const distance = (tree, clause, cells) => {
    const given = cells[clause.column];
    if (tree.columns[clause.column].kind !== "number" || given === null) return 1;
    const limits = [...clause.met, ...clause.unmet].map((i) => tree.conditions[i].threshold).filter((t) => t !== undefined);
    const gap = Math.min(...limits.map((limit) => Math.abs(given - limit)));
    return gap / (gap + Math.max(...limits.map(Math.abs), 1e-9));
  };

  const whatIf = () => {
    const tree = trees[shownTree], answer = byId("answer"), flip = byId("flip");
    answer.classList.remove("wrong-input");
    flip.textContent = "";
    let cells;
    try { cells = readCells(tree); } catch (error) {
      answer.textContent = error.message;
      answer.classList.add("wrong-input");
      return;
    }
    if (Object.values(cells).every((given) => given === null)) {
      answer.textContent = Object.keys(cells).length ? "Type values, or pick a row; what stays empty is missing." : "";
      choose("0");
      return;
    }
    let at = 0;
    while (tree.nodes[at].label === undefined) {
      const { feature, left, right } = tree.nodes[at];
      at = holds(tree.conditions[feature], cells[tree.conditions[feature].column]) ? right : left;
    }
    const leaf = tree.leaves[at], label = tree.nodes[at].label;
    const sure = leaf.interval ? `, ${leaf.interval.map((end) => (100 * end).toFixed(0)).join("–")} %` : "";
    answer.textContent = `Predicted: ${classes[label]} (leaf ${at + 1}: ${leaf.right} of ${leaf.total} right${sure})`;
    choose(String(at));
    const ways = Object.entries(tree.leaves)
      .filter(([place, other]) => tree.nodes[place].label !== label && other.clauses.every((clause) => clause.words !== "never"))
      .map(([place, other]) => {
        const needed = other.clauses.filter((clause) => failing(tree, clause, cells));
        return { place, needed, far: needed.reduce((sum, clause) => sum + distance(tree, clause, cells), 0) };
      })
      .sort((a, b) => a.needed.length - b.needed.length || a.far - b.far);
    if (!ways.length) { flip.textContent = "No change would give another class."; return; }
    const { place, needed } = ways[0];
    flip.textContent = `The smallest change for ${classes[tree.nodes[place].label]}: ${needed.map((clause) => clause.words).join(" and ")} (leaf ${Number(place) + 1}).`;
  };

  const drawForm = (tree) => {
    const place = byId("cells");
    const before = Object.fromEntries([...place.querySelectorAll("[data-column]")].map((input) => [input.dataset.column, input.value]));
    const row = rows[Number(state.row)] || {};
    place.replaceChildren();
    for (const [name, column] of Object.entries(tree.columns)) {
      const label = document.createElement("label");
      const isChoice = column.kind === "boolean" || column.kind === "unknown" || (column.kind === "category" && column.levels && column.levels.length <= 200);
      const input = document.createElement(isChoice ? "select" : "input");
      label.textContent = name;
      input.dataset.column = name;
      if (isChoice) {
        const levels = column.kind === "category" ? column.levels : column.kind === "boolean" ? ["true", "false"] : ["something"];
        for (const [option, text] of [["", "missing"], ...levels.map((level) => [level, level])]) input.add(new Option(text, option));
      } else {
        input.placeholder = column.kind === "date" ? "2024-03-01" : "missing";
        if (column.kind === "number") input.inputMode = "decimal";
      }
      const given = name in row && state.row !== "" ? row[name] : before[name];
      input.value = given === null || given === undefined ? "" : String(given);
      if (isChoice && input.value !== String(given ?? "")) input.value = "";
      input.addEventListener("input", () => { if (state.row !== "") { byId("row").value = ""; state.row = ""; keepAddress(); } whatIf(); });
      label.append(input);
      place.append(label);
    }
    if (!place.children.length) place.textContent = "This tree asks nothing.";
  };

  // ---- putting it together
  const keepAddress = () => {
    const changed = Object.entries(state).filter(([name, entry]) => entry !== DEFAULTS[name]);
    history.replaceState(null, "", "#" + new URLSearchParams(changed.map(([name, entry]) => [name, String(entry)])));
  };

  const readAddress = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    state = { ...DEFAULTS };
    for (const name of Object.keys(DEFAULTS)) {
      if (given.has(name)) state[name] = typeof DEFAULTS[name] === "number" ? Number(given.get(name)) || 0 : given.get(name);
    }
    state.size = Math.min(Math.max(state.size, 0), sizes.length - 1);
    if (!["goal", "cost", "hand"].includes(state.mode)) state.mode = "goal";
  };

  const show = () => {
    const size = sizes[state.size], note = byId("keep-note");
    let found;
    try {
      found = select(size);
      if (note) { note.textContent = ""; note.classList.remove("wrong-input"); }
    } catch (error) {
      if (note) { note.textContent = error.message; note.classList.add("wrong-input"); }
      found = { tree: size.best, words: "", proven: size.proven };
    }
    const tree = trees[found.tree];
    byId("size").value = state.size;
    byId("size-word").textContent = size.splits;
    drawSizes();
    if (hasPoints) {
      const place = Math.max(size.points.indexOf(found.tree), 0);
      byId("point").max = Math.max(size.points.length - 1, 0);
      byId("point").value = size.points.length - 1 - place;
      byId("point-word").textContent = tree.train.cells ? `recall ${METRICS.recall(tree.train.cells).toFixed(3)}, false positive rate ${(1 - METRICS.specificity(tree.train.cells)).toFixed(3)}` : "";
      byId("point").setAttribute("aria-valuetext", byId("point-word").textContent);
      for (const name of ["goal", "fn", "fp", "prevalence", "keep"]) if (byId(name) !== document.activeElement) byId(name).value = state[name];
      document.querySelector(`[name=mode][value=${state.mode}]`).checked = true;
      byId("curve").checked = state.curve !== "roc";
      drawPoints(found.tree);
    }
    summary(size, found);
    drawNumbers(tree);
    if (found.tree !== shownTree) {
      shownTree = found.tree;
      byId("shown").innerHTML = tree.html; // made and escaped by the program that made this page
      byId("tree").style.minWidth = `${11 * (tree.depth + 1)}rem`; // scrolled, so that it stays readable
      choose = wireTree("0");
      drawForm(tree);
    }
    whatIf();
  };

  const change = (next) => {
    state = { ...state, ...next };
    keepAddress();
    show();
  };

  // Another size; a tree that was pointed at gives way to the one nearest to it in both rates.
  const resize = (next) => {
    const points = sizes[next].points, now = trees[shownTree].train.cells;
    if (state.mode !== "hand" || !points.length) { change({ size: next }); return; }
    const far = (t) => Math.abs(METRICS.recall(trees[t].train.cells) - METRICS.recall(now))
      + Math.abs(METRICS.specificity(trees[t].train.cells) - METRICS.specificity(now));
    change({ size: next, point: points.indexOf(points.reduce((a, b) => far(b) < far(a) ? b : a)) });
  };

  byId("size").addEventListener("input", (event) => resize(Number(event.target.value)));
  if (hasPoints) {
    byId("point").addEventListener("input", (event) => {
      const last = sizes[state.size].points.length - 1;
      change({ mode: "hand", point: last - Number(event.target.value) });
    });
    byId("curve").addEventListener("change", (event) => change({ curve: event.target.checked ? "pr" : "roc" }));
    for (const radio of document.querySelectorAll("[name=mode]")) {
      radio.addEventListener("change", () => change(radio.value === "hand" ? { mode: "hand", point: Math.max(sizes[state.size].points.indexOf(shownTree), 0) } : { mode: radio.value }));
    }
    for (const name of ["fn", "fp", "prevalence"]) byId(name).addEventListener("input", (event) => change({ [name]: event.target.value.trim(), mode: "cost" }));
    for (const name of ["goal", "keep"]) byId(name).addEventListener("input", (event) => change({ [name]: event.target.value.trim(), mode: name === "keep" && state.mode === "cost" ? "cost" : "goal" }));
    for (const name of new Set([data.metric, ...Object.keys(METRICS)])) byId("metrics").append(new Option(name, name));
    document.querySelector(".wishes").addEventListener("submit", (event) => event.preventDefault());
  }
  if (byId("row")) {
    byId("row").add(new Option("typed below", ""));
    rows.forEach((row, i) => byId("row").add(new Option(`row ${i + 1}`, i)));
    byId("row").addEventListener("change", (event) => { state.row = event.target.value; keepAddress(); drawForm(trees[shownTree]); whatIf(); });
  }
  byId("what-if").addEventListener("submit", (event) => event.preventDefault());
  for (const button of document.querySelectorAll(".downloads button")) {
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([trees[shownTree].downloads[button.dataset.kind]], { type: "text/plain" }));
      link.download = button.dataset.name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }
  addEventListener("hashchange", () => { readAddress(); show(); });
  readAddress();
  if (byId("row")) byId("row").value = state.row;
  show();
};

unpack(byId("data").textContent).then(start).catch((error) => {
  byId("summary").textContent = `This browser cannot show the trees: ${error.message}`;
});
