const byId = (id) => document.getElementById(id);

// Make the tree of the page one to click on and to walk through, and show one of its nodes.
const wireTree = (start) => {
  const nodes = new Map();
  for (const node of document.querySelectorAll("a.node")) nodes.set(node.dataset.node, node);
  const lines = document.querySelectorAll(".line");

  // Show what is known of a node, and the way to it.
  const choose = (number) => {
    const detail = document.getElementById("node-" + number);
    if (!nodes.has(number) || !detail) return;
    const path = new Set(detail.dataset.path.split(" "));
    for (const other of document.querySelectorAll(".chosen")) other.classList.remove("chosen");
    nodes.get(number).classList.add("chosen");
    detail.classList.add("chosen");
    for (const line of lines) line.classList.toggle("on", path.has(line.dataset.node));
  };

  // The arrow keys follow the drawing: left to the parent, right to the first child, up and down
  // between nodes of the same column.
  const neighbour = (node, key) => {
    const all = [...nodes.values()];
    const x = (other) => Number(other.querySelector(".box").getAttribute("x"));
    const y = (other) => Number(other.querySelector(".box").getAttribute("y"));
    const column = all.filter((other) => x(other) === x(node)).sort((a, b) => y(a) - y(b));
    switch (key) {
      case "ArrowLeft": return nodes.get(node.dataset.parent);
      case "ArrowRight": return all.find((other) => other.dataset.parent === node.dataset.node);
      case "ArrowUp": return column[column.indexOf(node) - 1];
      case "ArrowDown": return column[column.indexOf(node) + 1];
      default: return undefined;
    }
  };

  // Once a node was picked, what is known of it stays in sight.
  const pick = (number) => {
    document.querySelector(".details").classList.add("picked");
    choose(number);
  };

  for (const [number, node] of nodes) {
    node.addEventListener("click", (event) => { event.preventDefault(); pick(number); });
    node.addEventListener("focus", () => pick(number));
    node.addEventListener("keydown", (event) => {
      const next = neighbour(node, event.key);
      if (!next) return;
      event.preventDefault();
      next.focus();
    });
  }
  choose(nodes.has(start) ? start : "0");
  return choose;
};
