// The page: a state that the address keeps, the tree that it selects, and all that shows it.
const short = (value) => value === null || value === undefined || Number.isNaN(value) ? "not defined"
  : Math.abs(value) < 100 ? value.toFixed(4) : value.toPrecision(6);

// The text of the data, which is packed.
const unpack = async (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
};

const defaultsOf = (data) => ({
  size: data.start, mode: "goal", point: 0, goal: data.metric, fn: "1", fp: "1", prevalence: "",
  keep: data.keep, curve: "roc", row: "",
});

const readAddress = (data) => {
  const given = new URLSearchParams(location.hash.slice(1)), state = defaultsOf(data);
  for (const [name, usual] of Object.entries(state)) {
    if (given.has(name)) state[name] = typeof usual === "number" ? Number(given.get(name)) || 0 : given.get(name);
  }
  state.size = Math.min(Math.max(Math.trunc(state.size), 0), data.sizes.length - 1);
  state.point = Math.max(Math.trunc(state.point), 0);
  if (!["goal", "cost", "hand"].includes(state.mode)) state.mode = "goal";
  return state;
};

const keepAddress = (data, state) => {
  const usual = defaultsOf(data);
  const changed = Object.entries(state).filter(([name, entry]) => entry !== usual[name]);
  history.replaceState(null, "", "#" + new URLSearchParams(changed.map(([name, entry]) => [name, String(entry)])));
};

// ---- words

const wishInWords = (data, state, found) => {
  if (found.fails) return `the best ${data.metric}${data.keep ? ` with ${data.keep}` : ""}`;
  if (state.mode === "hand") return "the tree that was pointed at";
  const aim = state.mode === "cost" ? "the least cost" : `the best ${state.goal}`;
  return aim + (state.keep ? ` with ${state.keep}` : "");
};

const proofInWords = (data, size, state, found) => {
  const trees = `tree with at most ${plural(size.splits, "split")}`;
  if (found.fails) {
    return found.proven ? `No ${trees} keeps ${state.keep}; that is proven. Shown is the best one without that.`
      : `None of the trees that were found keeps ${state.keep}. Not proven: ${found.why}. Shown is the best one without that.`;
  }
  if (!found.proven) return `The best that was found, not proven: ${found.why}.`;
  return state.mode === "hand" ? `No ${trees} has fewer misses and not more false alarms, or the other way round; that is proven.`
    : `No ${trees} is better for that; that is proven.`;
};

const foldsInWords = (data, size) => {
  const mean = data.folds?.means[size.splits], error = data.folds?.errors[size.splits];
  if (mean === null || mean === undefined) return "";
  return `On rows held back, the trees of best ${data.metric} of this size reach ${mean.toFixed(4)}\u00a0±\u00a0${error.toFixed(4)} (${plural(data.folds.n, "fold")}).`;
};

const errorsInWords = (data, tree) => {
  const name = data.classes[data.positive];
  const part = ([tp, fp, fn, tn], where) => `${where} it misses ${fn} of ${tp + fn} “${name}”, and ${fp} of ${fp + tn} others are false alarms.`;
  return part(tree.train, "On the training data") + (tree.tested ? " " + part(tree.tested, "On the test data") : "");
};

// Whether a wish that the training data keep does not hold on the test data.
const breaksOnTest = (state, found, tree) => state.mode !== "hand" && !found.fails && tree.tested !== null
  && !readLimits(state.keep).every((limit) => limit.isKept(tree.tested));

const more = (difference) => `${Math.abs(difference)} ${difference < 0 ? "fewer" : "more"}`;

const neighboursInWords = (data, size, place) => {
  const at = size.points.indexOf(place), [, fp, fn] = data.trees[place].train;
  const beside = (other) => {
    const [, fp2, fn2] = data.trees[other].train;
    return fn2 < fn ? `${more(fn2 - fn)} missed with ${more(fp2 - fp)} false alarms` : `${more(fp2 - fp)} false alarms with ${more(fn2 - fn)} missed`;
  };
  const known = [size.points[at - 1], size.points[at + 1]].filter((other) => at >= 0 && other !== undefined);
  const which = size.hasFront ? "The next trades" : "The next trades that were found";
  return known.length ? `${which} are ${known.map(beside).join(", or ")}.` : "";
};

const othersInWords = (data, size, place) => {
  const tree = data.trees[place], largest = data.sizes.at(-1);
  const than = (words, value) => {
    const gain = value - tree.value;
    return Math.abs(gain) > 5e-5 ? `${words} has ${Math.abs(gain).toFixed(4)} ${gain > 0 ? "more" : "less"} ${data.metric}` : `${words} has as much ${data.metric}`;
  };
  const parts = [];
  if (place !== size.best) parts.push(than(`the tree of best ${data.metric} at this size`, data.trees[size.best].value));
  if (size !== largest) parts.push(than(`the best one with ${plural(largest.splits, "split")}`, data.trees[largest.best].value));
  if (size.cart && !tree.train) parts.push(than(`CART with ${plural(size.cart.splits, "split")}`, size.cart.value));
  const text = parts.join("; ");
  return text && text[0].toUpperCase() + text.slice(1) + " on the training data.";
};

const cartInWords = (size, state) => {
  if (!size.cart?.cells) return "";
  const [, fp, fn] = size.cart.cells;
  const breaks = state.mode !== "hand" && !readLimits(state.keep).every((limit) => limit.isKept(size.cart.cells));
  return `With ${plural(size.cart.splits, "split")}, CART misses ${fn} and has ${plural(fp, "false alarm")} there${breaks ? `: it does not keep ${state.keep}` : ""}.`;
};

const writeSummary = (data, size, state, found) => {
  const tree = data.trees[found.tree];
  const unused = tree.splits < size.splits ? ` of the ${size.splits} that are allowed` : "";
  const entries = [
    ["Shown", `${wishInWords(data, state, found)}: ${plural(tree.splits, "split")}${unused}, depth ${tree.depth}`],
    ["Proof", proofInWords(data, size, state, found)],
    ["New rows", foldsInWords(data, size)],
    ["Errors", tree.train ? errorsInWords(data, tree) : ""],
    ["Careful", breaksOnTest(state, found, tree) ? `On the test data it does not keep ${state.keep}. Ask for more than is needed, so that some room is left.` : ""],
    ["Compared with", [tree.train ? neighboursInWords(data, size, found.tree) : "", othersInWords(data, size, found.tree), cartInWords(size, state)].join(" ").trim()],
  ];
  byId("summary").replaceChildren(...entries.filter(([, text]) => text).flatMap(([name, text]) => {
    const made = [document.createElement("dt"), document.createElement("dd")];
    made[0].textContent = name;
    made[1].textContent = text;
    return made;
  }));
};

// ---- the same wish at every size

const addCells = (row, kinds, texts) => texts.forEach((text, i) => {
  const made = document.createElement(kinds[Math.min(i, kinds.length - 1)]);
  if (made.tagName === "TH") made.scope = kinds.length > 1 ? "row" : "col";
  made.textContent = text;
  row.append(made);
});

const share = (part, total) => total ? `${part} (${(100 * part / total).toFixed(1)} %)` : "–";

const cellsOfSize = (data, size, state, found, hasTest) => {
  const tree = data.trees[found.tree], mean = data.folds?.means[size.splits];
  if (found.fails) return [String(size.splits), "no tree keeps it" + (found.proven ? "" : " so far")];
  const errors = (cells) => [share(cells[2], cells[0] + cells[2]), share(cells[1], cells[1] + cells[3])];
  return [
    String(size.splits), ...errors(tree.train), ...(hasTest ? errors(tree.tested) : []),
    short(tree.value), ...(data.folds ? [mean === null || mean === undefined ? "" : mean.toFixed(4)] : []),
    found.proven ? "proven" : "not proven",
    ...(hasTest && state.mode !== "hand" && state.keep ? [breaksOnTest(state, found, tree) ? "no" : "yes"] : []),
  ];
};

const drawBySize = (data, state) => {
  const table = byId("by-size"), hasTest = data.trees[0].tested !== null;
  table.replaceChildren();
  addCells(table.createTHead().insertRow(), ["th"], [
    "splits, at most", "missed, training", "false alarms, training",
    ...(hasTest ? ["missed, test", "false alarms, test"] : []), `${data.metric}, training`,
    ...(data.folds ? [`best ${data.metric} in folds`] : []), "best of its size",
    ...(hasTest && state.mode !== "hand" && state.keep ? ["keeps it on test"] : []),
  ]);
  const body = table.createTBody();
  data.sizes.forEach((size, i) => {
    const at = state.mode === "hand" && size.points.length ? { ...state, point: nearestPoint(data, size, data.trees[choose(data, data.sizes[state.size], state).tree]) } : state;
    const row = body.insertRow();
    addCells(row, ["th", "td"], cellsOfSize(data, size, at, choose(data, size, at), hasTest));
    if (row.cells.length === 2) row.cells[1].colSpan = 9;
    row.classList.toggle("goal", i === state.size);
    row.dataset.size = i;
  });
};

// The operating point of a size that is nearest to a tree in both rates.
const nearestPoint = (data, size, tree) => {
  const rate = (metric, cells) => METRICS[metric](cells);
  const far = (t) => ["recall", "specificity"].reduce((sum, name) => sum + Math.abs(rate(name, data.trees[t].train) - rate(name, tree.train)), 0);
  return size.points.indexOf(top(size.points, (t) => -far(t)));
};

// ---- what is marked and filled in

const markCharts = (size, state, place) => {
  for (const line of document.querySelectorAll(".now-line")) line.classList.toggle("now", Number(line.dataset.size) === state.size);
  if (!byId("points")) return;
  if (size.charts) byId("points").innerHTML = size.charts[state.curve === "pr" ? "pr" : "roc"];
  else byId("points").textContent = "Operating points of this size were not found in time.";
  for (const spot of document.querySelectorAll(`.spot[data-tree="${place}"]`)) spot.classList.add("now");
};

const fillControls = (data, size, state, place) => {
  if (byId("size")) {
    byId("size").value = state.size;
    byId("size-word").textContent = size.splits;
    byId("size").setAttribute("aria-valuetext", plural(size.splits, "split"));
    byId("back").hidden = place === data.sizes[data.start].best;
  }
  if (!byId("point")) return;
  const cells = data.trees[place].train, last = Math.max(size.points.length - 1, 0);
  const words = `recall ${METRICS.recall(cells).toFixed(3)}, false positive rate ${(1 - METRICS.specificity(cells)).toFixed(3)}`;
  byId("point").max = last;
  byId("point").value = last - Math.max(size.points.indexOf(place), 0);
  byId("point").disabled = last === 0;
  byId("point-word").textContent = words;
  byId("point").setAttribute("aria-valuetext", words);
  for (const name of ["goal", "fn", "fp", "prevalence", "keep"]) if (byId(name) !== document.activeElement) byId(name).value = state[name];
  document.querySelector(`[name=mode][value=${state.mode}]`).checked = true;
  byId("curve").checked = state.curve === "pr";
};

const download = (tree, { kind, name }) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([tree.downloads[kind]], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

// ---- putting it together

// The data, the state, and the tree that is shown; `change` and `resize` lead to others.
class Page {
  constructor(data) {
    this.data = data;
    this.state = readAddress(data);
    this.place = data.sizes[data.start].best;
    this.chooseNode = wireTree(location.hash.slice("#node-".length));
  }

  get size() { return this.data.sizes[this.state.size]; }

  get tree() { return this.data.trees[this.place]; }

  change(next) {
    this.state = { ...this.state, ...next };
    keepAddress(this.data, this.state);
    this.show();
  }

  // Another size; a tree that was pointed at gives way to the one nearest to it.
  resize(next) {
    const size = this.data.sizes[next], isHand = this.state.mode === "hand" && size.points.length;
    this.change(isHand ? { size: next, point: nearestPoint(this.data, size, this.tree) } : { size: next });
  }

  // The tree of the state, and what is wrong with the wish, if something is.
  find() {
    try {
      return [choose(this.data, this.size, this.state), ""];
    } catch (error) {
      return [{ tree: this.size.best, proven: this.size.proven, why: STOPPED }, error.message];
    }
  }

  show() {
    const { data, state, size } = this, [found, complaint] = this.find();
    if (byId("keep-note")) {
      byId("keep-note").textContent = complaint;
      byId("keep-note").classList.toggle("wrong-input", complaint !== "");
    }
    if (found.tree !== this.place) this.swap(found.tree);
    markCharts(size, state, this.place);
    fillControls(data, size, state, this.place);
    if (byId("summary")) writeSummary(data, size, complaint ? { ...defaultsOf(data), size: state.size } : state, found);
    if (byId("by-size") && !complaint) drawBySize(data, state);
    this.answer();
  }

  // Another tree, whose parts were made and escaped by the program that made this page.
  swap(place) {
    this.place = place;
    for (const [id, html] of Object.entries(this.tree.html)) byId(id).innerHTML = html;
    this.chooseNode = wireTree("0");
    this.drawForm();
  }

  drawForm() { drawForm(this.tree, this.state.row === "" ? undefined : this.data.rows[this.state.row]); }

  answer() { answerWhatIf(this.tree, this.chooseNode); }

  // A row of the data, or none.
  pick(row) {
    this.state.row = row;
    keepAddress(this.data, this.state);
  }
}

const listen = (id, kind, act) => byId(id)?.addEventListener(kind, act);

const wireChoices = (page) => {
  const typed = (name, mode) => listen(name, "input", ({ target }) => page.change({ [name]: target.value.trim(), mode: mode(page.state.mode) }));
  for (const name of ["fn", "fp", "prevalence"]) typed(name, () => "cost");
  typed("goal", () => "goal");
  typed("keep", (mode) => mode === "cost" ? "cost" : "goal");
  const bySize = ({ target }) => {
    const chosen = target.closest("[data-size]");
    if (chosen) page.resize(Number(chosen.dataset.size));
  };
  listen("size", "input", ({ target }) => page.resize(Number(target.value)));
  listen("sizes", "click", bySize);
  listen("by-size", "click", bySize);
  listen("point", "input", ({ target }) => page.change({ mode: "hand", point: page.size.points.length - 1 - Number(target.value) }));
  listen("points", "click", ({ target }) => {
    const at = page.size.points.indexOf(Number(target.dataset.tree ?? NaN));
    if (at >= 0) page.change({ mode: "hand", point: at });
  });
  listen("curve", "change", ({ target }) => page.change({ curve: target.checked ? "pr" : "roc" }));
  for (const radio of document.querySelectorAll("[name=mode]")) {
    radio.addEventListener("change", () => page.change({ mode: radio.value, point: Math.max(page.size.points.indexOf(page.place), 0) }));
  }
  listen("back", "click", () => page.change({ ...defaultsOf(page.data), row: page.state.row }));
};

const wireRest = (page) => {
  listen("row", "change", ({ target }) => { page.pick(target.value); page.drawForm(); page.answer(); });
  listen("cells", "input", () => {
    if (page.state.row !== "") { byId("row").value = ""; page.pick(""); }
    page.answer();
  });
  for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());
  for (const button of document.querySelectorAll(".downloads button")) button.addEventListener("click", () => download(page.tree, button.dataset));
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#node-")) return;
    page.state = readAddress(page.data);
    page.show();
  });
};

const start = (data) => {
  const page = new Page(data);
  for (const name of new Set([data.metric, ...Object.keys(METRICS)])) byId("goal")?.add(new Option(name.replaceAll("_", " ") + (NOTES[name] ? ` (${NOTES[name]})` : ""), name));
  byId("row")?.append(new Option("typed below", ""), ...data.rows.map((_, i) => new Option(`row ${i + 1}`, i)));
  if (byId("row")) byId("row").value = page.state.row;
  wireChoices(page);
  wireRest(page);
  page.drawForm();
  page.show();
};

document.documentElement.classList.add("js");
unpack(byId("data").textContent).then(start).catch((error) => {
  document.documentElement.classList.remove("js");
  byId("facts").append(`This browser cannot show the other parts of this page: ${error.message}`);
});
