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
  acc: "accuracy", bacc: "balanced_accuracy", sensitivity: "recall", tpr: "recall", tnr: "specificity",
  ppv: "precision", iou: "jaccard", matthews: "mcc", matthews_corrcoef: "mcc", g_mean: "gmean", geometric_mean: "gmean",
  true_positives: "tp", false_positives: "fp", false_alarms: "fp", false_negatives: "fn", true_negatives: "tn",
  alerts: "predicted_positives", alarms: "predicted_positives",
};
const NOTES = { recall: "sensitivity", precision: "positive predictive value", npv: "negative predictive value" };
// Counts, and what they are shares of: a number with % bounds a share.
const COUNTS = {
  tp: ([tp, , fn]) => [tp, tp + fn],
  fp: ([, fp, , tn]) => [fp, fp + tn],
  fn: ([tp, , fn]) => [fn, tp + fn],
  tn: ([, fp, , tn]) => [tn, fp + tn],
  predicted_positives: ([tp, fp, fn, tn]) => [tp + fp, tp + fp + fn + tn],
};
// A best tree for all others is on the hull.
const INSIDE_HULL = new Set(["gmean"]);

const number = (text) => Number(text.trim().replace(",", ".") || NaN);

// A number such as 0.95, 2/3 or 1e-3 as integers above and below.
const readFraction = (text) => {
  if (!/^[+-]?([0-9]+[/]0*[1-9][0-9]*|([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+-]?[0-9]{1,2})?)$/i.test(text)) return null;
  const [above, below = "1"] = text.toLowerCase().split("/");
  const [digits, power = "0"] = above.split("e"), [whole, part = ""] = digits.split(".");
  const shift = part.length - Number(power);
  const sign = whole.startsWith("-") ? -1n : 1n, tens = 10n ** BigInt(Math.abs(shift));
  const integer = sign * BigInt(whole.replace(/[+-]/, "") + part);
  return [integer * (shift < 0 ? tens : 1n), BigInt(below) * (shift > 0 ? tens : 1n)];
};

// A metric as people write it, such as Balanced accuracy or F1-score.
const metricOf = (text) => {
  const name = text.toLowerCase().replace(/\s+|-(?!\d)/g, "_").replace(/_?(score|index)$/, "");
  return ALIASES[name] ?? name;
};

// One condition such as "recall >= 0.95": whether cells keep it, and whether fewer errors help.
const readLimit = (text, hasParts) => {
  const found = /^(.+?)\s*(>=|<=|≥|≤)\s*([^\s%]+)\s*(%?)$/.exec(text), name = found && metricOf(found[1]);
  const bound = found && readFraction(found[3]), isCount = Object.hasOwn(COUNTS, name);
  if (!bound || !(isCount || Object.hasOwn(METRICS, name))) {
    throw new Error(`“${text}” is not understood: write a metric or tp, fp, fn, tn, alerts, then >= or <=, then a number, such as recall >= 0.95 or alerts <= 20%`);
  }
  const isPercent = found[4] !== "", [above, below] = [bound[0], bound[1] * (isPercent ? 100n : 1n)];
  if (isCount && !isPercent && above > 0 && above < below && !hasParts) {
    throw new Error(`“${text}” is about a part of one row: if a share is meant, write ${+(100 * Number(above) / Number(below)).toPrecision(6)}%; if a number of rows, a whole number`);
  }
  const least = found[2] === ">=" || found[2] === "≥";
  const isKept = (cells) => {
    const [amount, whole] = isCount ? COUNTS[name](cells) : [METRICS[name](cells), 1];
    const of = isPercent && isCount ? whole : 1;
    if ([amount, of].every(Number.isSafeInteger)) {
      const [here, limit] = [BigInt(amount) * below, above * BigInt(of)];
      return least ? here >= limit : here <= limit;
    }
    // Of others than integers, a bound that is met must not fail by a rounding error.
    const limit = Number(above) / Number(below) * of, slack = 1e-12 * Math.max(1, Math.abs(limit));
    return least ? amount >= limit - slack : amount <= limit + slack;
  };
  const rises = !["fp", "fn", "predicted_positives"].includes(name);
  return { isKept, isMonotone: least ? rises : name === "fp" || name === "fn" };
};

// The conditions of a text, between commas or "and". hasParts: some rows count as a part of one.
const readLimits = (text, hasParts = true) =>
  text.split(/[,;]| and /i).map((part) => part.trim()).filter(Boolean).map((part) => readLimit(part, hasParts));

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
