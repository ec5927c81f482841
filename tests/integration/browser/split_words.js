// Words of at most 16 characters that stand on more than one line, and words beyond the edge.
// Prose may hold longer ones (ids, messages); column heads are for screen readers alone here.
const width = arguments[0];
const split = [], hidden = [];
const unseen = ".sr, .skip, svg, pre, details:not([open]) > :not(summary)";
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const node = walk.currentNode, parent = node.parentElement;
  if (!parent || !parent.checkVisibility() || parent.closest(unseen)) continue;
  const head = parent.closest("thead");
  if (head && getComputedStyle(head).position === "absolute") continue;
  for (const found of node.data.matchAll(/\S+/g)) {
    const range = document.createRange();
    range.setStart(node, found.index);
    range.setEnd(node, found.index + found[0].length);
    const lines = new Set([...range.getClientRects()].map(one => Math.round(one.top)));
    if (found[0].length <= 16 && lines.size > 1) split.push(found[0]);
    const box = range.getBoundingClientRect();
    if (box.width && (box.left < -1 || box.right > width + 1)) hidden.push(found[0]);
  }
}
return {split, hidden, width: document.documentElement.scrollWidth};
