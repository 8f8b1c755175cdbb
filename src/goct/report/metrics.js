// Metrics of the four cells of a confusion matrix, and what has to hold for them.
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
const ALIASES = {
  sensitivity: "recall", tpr: "recall", tnr: "specificity", ppv: "precision",
  true_positives: "tp", false_positives: "fp", false_negatives: "fn", true_negatives: "tn",
};
const NOTES = { recall: "sensitivity", precision: "positive predictive value", npv: "negative predictive value" };
const CELLS = { tp: 0, fp: 1, fn: 2, tn: 3 };
// A best tree for all others is on the hull.
const INSIDE_HULL = new Set(["gmean"]);

const number = (text) => Number(text.trim().replace(",", ".") || NaN);

// One condition such as "recall >= 0.95": whether cells keep it, and whether fewer errors help.
const readLimit = (text) => {
  const found = /^([a-z0-9_.]+)\s*(>=|<=|≥|≤)\s*([0-9]*[.]?[0-9]+)(\s*%)?$/i.exec(text);
  const asked = found && found[1].toLowerCase(), name = ALIASES[asked] ?? asked;
  if (!found || !(name in METRICS || name in CELLS)) {
    throw new Error(`“${text}” is not understood: write a metric or tp, fp, fn, tn, then >= or <=, then a number, such as recall >= 0.95`);
  }
  const least = found[2] === ">=" || found[2] === "≥";
  const bound = Number(found[3]) / (found[4] ? 100 : 1);
  const of = (cells) => name in CELLS ? cells[CELLS[name]] : METRICS[name](cells);
  // Floats of whole numbers: a bound that is met exactly must not fail by a rounding error.
  const isKept = (cells) => least ? of(cells) >= bound - 1e-12 : of(cells) <= bound + 1e-12;
  return { isKept, isMonotone: (name === "fp" || name === "fn") !== least };
};

// The conditions of a text, between commas or "and".
const readLimits = (text) => text.split(/[,;]| and /i).map((part) => part.trim()).filter(Boolean).map(readLimit);

// What a row costs on average, given the prices of errors and how common the positive class is.
const readCost = ({ fn, fp, prevalence }) => {
  const [miss, alarm] = [number(fn), number(fp)];
  if (!(miss >= 0 && alarm >= 0)) throw new Error("prices must be numbers that are not negative");
  const share = prevalence === "" ? null : number(prevalence) / 100;
  if (share !== null && !(share >= 0 && share <= 1)) throw new Error("the share must be between 0 and 100 %");
  return ([tp, fpHere, fnHere, tn]) => {
    const common = share ?? (tp + fnHere) / (tp + fpHere + fnHere + tn);
    return common * miss * fnHere / (tp + fnHere) + (1 - common) * alarm * fpHere / (fpHere + tn);
  };
};
