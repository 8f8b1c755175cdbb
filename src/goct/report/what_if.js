// One row through a tree, and the smallest change that would give it another class.

// A date, or one with a time, with all its digits: texts of the same length are in order.
const day = (text) => {
  const parts = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?)?)?$/.exec(text);
  if (!parts) return null;
  const [, date, hour = "00", minute = "00", second = "00", rest = ""] = parts;
  return `${date} ${hour}:${minute}:${second}.${rest.padEnd(6, "0")}`;
};

const holds = (condition, given) => {
  if (condition.kind === "missing") return given === null;
  if (given === null) return false;
  if (condition.kind === "above") return Number(given) > condition.threshold;
  if (condition.kind === "after") return day(String(given)) > day(condition.moment.slice(0, 26));
  if (condition.levels) return condition.levels.includes(String(given));
  return given === true || given === "true" || given === 1;
};

// The value of a cell that was typed; an error says what it should be.
const readCell = (name, kind, text) => {
  if (text === "") return null;
  if (kind === "number" && Number.isNaN(number(text))) throw new Error(`${name} must be a number`);
  if (kind === "date" && !day(text)) throw new Error(`${name} must be a date such as 2024-03-01`);
  return kind === "number" ? number(text) : text;
};

const leafOf = (tree, cells) => {
  let at = 0;
  while (tree.nodes[at].label === undefined) {
    const { feature, left, right } = tree.nodes[at], condition = tree.conditions[feature];
    at = holds(condition, cells[condition.column]) ? right : left;
  }
  return at;
};

const isKept = (tree, clause, cells) => {
  const meets = (i) => holds(tree.conditions[i], cells[clause.column]);
  return clause.met.every(meets) && !clause.unmet.some(meets);
};

// How far a number is from where a clause wants it, relative to the thresholds of its column.
const distance = (tree, clause, cells) => {
  const given = cells[clause.column];
  if (tree.columns[clause.column].kind !== "number" || given === null) return 1;
  const limits = [...clause.met, ...clause.unmet].map((i) => tree.conditions[i].threshold).filter((t) => t !== undefined);
  const gap = Math.min(...limits.map((limit) => Math.abs(given - limit)));
  return gap / (gap + Math.max(...limits.map(Math.abs), 1e-9));
};

// The leaf of another class that needs the fewest columns to change, then the nearest.
const nearestFlip = (tree, leaf, cells) => Object.entries(tree.leaves)
  .filter(([, other]) => other.predicts !== tree.leaves[leaf].predicts && other.clauses.every((clause) => clause.words !== "never"))
  .map(([place, other]) => {
    const needed = other.clauses.filter((clause) => !isKept(tree, clause, cells));
    return { place, needed, far: needed.reduce((sum, clause) => sum + distance(tree, clause, cells), 0) };
  })
  .sort((a, b) => a.needed.length - b.needed.length || a.far - b.far)[0];

const levelsOf = (column) => {
  if (column.kind === "boolean") return ["true", "false"];
  if (column.kind === "unknown") return ["something"];
  return column.kind === "category" && column.levels && column.levels.length <= 200 ? column.levels : null;
};

// A field for a column: a list of categories, or something to type into.
const makeField = (name, column, given) => {
  const label = document.createElement("label"), levels = levelsOf(column);
  const input = document.createElement(levels ? "select" : "input");
  label.textContent = name;
  input.dataset.column = name;
  if (levels) {
    input.add(new Option("missing", ""));
    for (const level of levels) input.add(new Option(level, level));
  } else {
    input.placeholder = column.kind === "date" ? "2024-03-01" : "missing";
    if (column.kind === "number") input.inputMode = "decimal";
  }
  input.value = given === null || given === undefined ? "" : String(given);
  if (levels && input.selectedIndex < 0) input.value = "";
  label.append(input);
  return label;
};

// The fields for the columns of a tree: of a row of the data, or as they were typed before.
const drawForm = (tree, row) => {
  const place = byId("cells"), before = {};
  for (const input of place.querySelectorAll("[data-column]")) before[input.dataset.column] = input.value;
  const columns = Object.entries(tree.columns);
  place.replaceChildren(...columns.map(([name, column]) => makeField(name, column, row && name in row ? row[name] : before[name])));
  if (!columns.length) place.textContent = "This tree asks nothing.";
};

// Where the row of the form goes; shows its leaf.
const answerWhatIf = (tree, chooseNode) => {
  const answer = byId("answer"), flip = byId("flip"), cells = {};
  answer.classList.remove("wrong-input");
  answer.textContent = flip.textContent = "";
  try {
    for (const input of byId("cells").querySelectorAll("[data-column]")) {
      const name = input.dataset.column;
      cells[name] = readCell(name, tree.columns[name].kind, input.value.trim());
    }
  } catch (error) {
    answer.textContent = error.message;
    answer.classList.add("wrong-input");
    return;
  }
  if (Object.values(cells).every((given) => given === null)) {
    if (Object.keys(cells).length) answer.textContent = "Type values, or pick a row; what stays empty is missing.";
    return;
  }
  const place = leafOf(tree, cells), leaf = tree.leaves[place], next = nearestFlip(tree, place, cells);
  const sure = leaf.interval ? `, ${leaf.interval.map((end) => (100 * end).toFixed(0)).join("–")} %` : "";
  answer.textContent = `Predicted: ${leaf.predicts} (leaf ${place + 1}: ${leaf.right} of ${leaf.total} right${sure})`;
  chooseNode(String(place));
  flip.textContent = next === undefined ? "No change would give another class."
    : `The smallest change for ${tree.leaves[next.place].predicts}: ${next.needed.map((clause) => clause.words).join(" and ")} (leaf ${Number(next.place) + 1}).`;
};
