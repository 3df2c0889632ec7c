// Faults of the page as it stands, for faults.py: sentences, each with its element.
() => {
const faults = [];
const shown = new Map();
const style = (el) => {
  let s = shown.get(el);
  if (!s) shown.set(el, (s = getComputedStyle(el)));
  return s;
};
const name = (el) => {
  const own = (el) => el.tagName.toLowerCase()
    + (typeof el.className === "string" && el.className ? "." + el.className.trim().replace(/\s+/g, ".") : "");
  const up = el.parentElement;
  return (up && up.id !== "app" ? own(up) + " > " : "") + own(el);
};
const words = (text) => JSON.stringify(text.trim().replace(/\s+/g, " ").slice(0, 60));
const up = function* (el) { for (; el && el !== document; el = el.parentElement) yield el; };
const SKIP = ".sr, .cut-middle > .whole, .stage-outline, .cm-editor, script, style, option";

const hidden = (el) => {
  if (!el.checkVisibility()) return true; // within what is closed
  for (const at of up(el)) {
    const s = style(at);
    if (s.display === "none" || s.visibility === "hidden" || +s.opacity < 0.1) return true;
  }
  return false;
};

// ---- texts: each text node that a reader can see, with where it is drawn
const texts = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode()); ) {
  const el = node.parentElement;
  if (!el || !node.data.trim() || el.closest(SKIP) || el.closest("svg") || hidden(el)) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  const rects = [...range.getClientRects()].filter((r) => r.width > 0.5 && r.height > 0.5);
  if (rects.length) texts.push({ node, el, rects, text: node.data });
}

// ---- what the ancestors leave of a rectangle, and who takes the rest
const clipped = (el, rect) => {
  let { left, right, top, bottom } = rect;
  let by = null;
  let scrolls = false;
  for (const at of up(el)) {
    const s = style(at);
    if (s.overflowX !== "visible" || s.overflowY !== "visible") {
      const r = at.getBoundingClientRect();
      const box = { left: r.left + at.clientLeft, top: r.top + at.clientTop };
      box.right = box.left + at.clientWidth;
      box.bottom = box.top + at.clientHeight;
      const inline = s.display === "inline";
      if (!inline) {
        const x = left < box.left - 1.5 || right > box.right + 1.5;
        const y = top < box.top - 2.5 || bottom > box.bottom + 2.5;
        const sx = /auto|scroll/.test(s.overflowX), sy = /auto|scroll/.test(s.overflowY);
        if ((x && sx) || (y && sy)) scrolls = true;
        if (!scrolls && ((x && !sx) || (y && !sy)) && !by) by = { at, x, y };
        left = Math.max(left, box.left); right = Math.min(right, box.right);
        top = Math.max(top, box.top); bottom = Math.min(bottom, box.bottom);
      }
    }
    if (s.position === "fixed") break;
  }
  left = Math.max(left, 0); top = Math.max(top, 0);
  right = Math.min(right, innerWidth); bottom = Math.min(bottom, innerHeight);
  return { left, right, top, bottom, by, scrolls, seen: right - left > 1 && bottom - top > 2 };
};

const titled = (el) => {
  for (const at of up(el)) if (at.getAttribute("title") || at.dataset.tip) return true;
  return false;
};

const seen = [];
for (const { el, rects, text } of texts) {
  for (const rect of rects) {
    const cut = clipped(el, rect);
    if (cut.by && cut.by.x && !cut.by.y) {
      let ellipsis = null;
      for (const at of up(el)) {
        if (style(at).textOverflow === "ellipsis") ellipsis = at;
        if (at === cut.by.at) break;
      }
      if (!ellipsis) {
        if (cut.seen || rects.length === 1) faults.push(`cut: ${name(el)} ${words(text)} by ${name(cut.by.at)}`);
      } else if (!titled(el)) faults.push(`no title: ${name(el)} ${words(text)}`);
    } else if (cut.by && cut.by.y && cut.seen) faults.push(`cut in height: ${name(el)} ${words(text)} by ${name(cut.by.at)}`);
    if (cut.seen) seen.push({ el, text, ...cut });
  }
}

// ---- an ellipsis that the browser has drawn: the text is narrower than what it says
for (const el of document.querySelectorAll("body *")) {
  const s = style(el);
  if (s.textOverflow !== "ellipsis" || el.scrollWidth <= el.clientWidth + 1 || hidden(el)) continue;
  if (!el.clientWidth || el.closest(SKIP) || !el.textContent.trim()) continue;
  if (!titled(el) && !el.querySelector("[title]")) faults.push(`no title: ${name(el)} ${words(el.textContent)}`);
  if (el.clientWidth < 14) faults.push(`nothing left: ${name(el)} ${words(el.textContent)}`);
}

// ---- contrast (WCAG 2.2, 1.4.3): of every text on what lies under it
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const parsed = new Map();
const colour = (text) => {
  let c = parsed.get(text);
  if (!c) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    parsed.set(text, (c = [r, g, b, a / 255]));
  }
  return c;
};
const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
const luminance = ([r, g, b]) => {
  const f = (v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
};
const ratio = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};
const under = (el) => {
  const layers = [];
  for (const at of up(el)) {
    const c = colour(style(at).backgroundColor);
    if (c[3] > 0) layers.push(c);
    if (c[3] === 1) break;
  }
  return layers.reverse().reduce((a, b) => over(b, a), [255, 255, 255, 1]);
};
const told = new Set();
for (const { el, text } of seen) {
  if (told.has(el) || el.closest(":disabled")) continue;
  told.add(el);
  const s = style(el);
  const back = under(el);
  let c = colour(s.color);
  let opacity = 1;
  for (const at of up(el)) opacity *= +style(at).opacity;
  c = over([c[0], c[1], c[2], c[3] * opacity], back);
  const size = parseFloat(s.fontSize);
  const least = size >= 24 || (size >= 18.66 && +s.fontWeight >= 700) ? 3 : 4.5;
  const r = ratio(c, back);
  if (r < least - 0.02) faults.push(`contrast ${r.toFixed(2)}: ${name(el)} ${words(text)}`);
}

// ---- texts that are drawn over each other, or under something that is no layer of its own
const LAYERS = ".menu, .palette, .scrim, .sheet, .cover, .working, .nav.over, .insp.over, .tip, .pill";
const cells = new Map();
for (const a of seen) {
  for (let y = Math.floor(a.top / 40); y <= Math.floor(a.bottom / 40); y++)
    for (let x = Math.floor(a.left / 80); x <= Math.floor(a.right / 80); x++) {
      const key = `${x} ${y}`;
      const others = cells.get(key) ?? cells.set(key, []).get(key);
      for (const b of others) {
        if (a.el === b.el || a.el.contains(b.el) && a.text === b.text) continue;
        const w = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (w <= 2 || h <= 4) continue;
        const px = Math.max(a.left, b.left) + w / 2, py = Math.max(a.top, b.top) + h / 2;
        const top = document.elementFromPoint(px, py);
        const layer = top?.closest(LAYERS);
        if (layer && (!layer.contains(a.el) || !layer.contains(b.el))) continue;
        if (a.el.closest(LAYERS) !== b.el.closest(LAYERS)) continue;
        const other = a.el.closest(".tl, .rv, .ov, .empty"), another = b.el.closest(".tl, .rv, .ov, .empty");
        if (other !== another) continue;
        faults.push(`over each other: ${name(a.el)} ${words(a.text)} and ${name(b.el)} ${words(b.text)}`);
      }
      others.push(a);
    }
}
for (const a of seen) {
  const top = document.elementFromPoint((a.left + a.right) / 2, (a.top + a.bottom) / 2);
  if (!top || top.contains(a.el) || a.el.contains(top) || top.closest(LAYERS) || top.closest("label")) continue;
  if (style(a.el).pointerEvents === "none" || style(top).position === "absolute" && colour(style(top).backgroundColor)[3] === 0) continue;
  if (a.el.closest(".body") && top.closest(".tl, .rv, .ov, .empty")) continue;
  // parts of one line of text
  if (a.el.parentElement === top.parentElement && style(top).display.startsWith("inline")) continue;
  faults.push(`covered: ${name(a.el)} ${words(a.text)} by ${name(top)}`);
}

// ---- scroll bars: the page has none, and none stands within another of the same direction
if (document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight)
  faults.push("the window scrolls");
const scrolls = (el, way) => {
  const s = style(el);
  return way === "y"
    ? /auto|scroll/.test(s.overflowY) && el.scrollHeight > el.clientHeight + 1
    : /auto|scroll/.test(s.overflowX) && el.scrollWidth > el.clientWidth + 1;
};
for (const el of document.querySelectorAll("body *")) {
  if (el.closest(SKIP) || hidden(el)) continue;
  for (const way of ["x", "y"]) {
    if (!scrolls(el, way)) continue;
    const outer = [...up(el.parentElement)].find((at) => scrolls(at, way));
    if (outer) faults.push(`scrolls within a scrolling one (${way}): ${name(el)} in ${name(outer)}`);
    if (way === "x" && !el.matches(".cols4, .scrollx, .textdiff, .pins, .tabs, .kp-tabs *, .trace, .recorded, .code, pre"))
      faults.push(`scrolls sideways: ${name(el)}`);
  }
}

// ---- values that are none, and numbers that do not fit their nouns
for (const { el, text } of seen) {
  if (/\b(undefined|NaN|Infinity)\b|\[object /.test(text) && !el.closest(".mono, code, pre, .eq"))
    faults.push(`no value: ${name(el)} ${words(text)}`);
}
const NOUNS = "kernels|passes|steps|nodes|rules|rewrites|launches|matches|lines|programs|devices|runs|targets|values|columns|schedules|problems|processes|threads|times|changes|bytes";
for (const el of new Set(seen.map((s) => s.el.closest("button, a, p, li, td, dd, h1, h2, h3, .badge, .state") ?? s.el))) {
  const found = el.textContent.match(new RegExp(`(^|[^\\d.,/-])1 (${NOUNS})\\b`));
  if (found) faults.push(`one, many: ${name(el)} ${words(el.textContent)}`);
}

// ---- controls: a name, and room to hit
for (const el of document.querySelectorAll("button, a[href], input, select, textarea, [role=button], [role=tab]")) {
  if (hidden(el) || el.closest(SKIP)) continue;
  const r = el.getBoundingClientRect();
  if (!r.width || !r.height) continue;
  const label = el.getAttribute("aria-label") || el.title || el.textContent.trim() || el.labels?.length
    || el.getAttribute("aria-labelledby") || el.getAttribute("placeholder");
  if (!label) faults.push(`no name: ${name(el)}`);
}
return [...new Set(faults)];
}
