// Building the document. Data is only ever inserted as text: no function here parses it as
// markup, and attributes with data are values, labels and links within the page.

function byId(id) { return document.getElementById(id); }

// el creates an element with attributes and children. Each child is a node or a text.
function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === false || value === undefined) continue;
    e.setAttribute(key, value === true ? '' : value);
  }
  e.append(...children.flat());
  return e;
}

function fill(parent, ...children) {
  parent.replaceChildren(...children.flat());
}

// keepFocus calls draw, which replaces the content of box, and returns the focus to the
// element with the same data-key.
function keepFocus(box, draw) {
  const focused = document.activeElement;
  const key = box.contains(focused) && focused !== box ? focused.dataset.key : undefined;
  draw();
  if (key === undefined) return;
  for (const e of box.querySelectorAll('[data-key]')) {
    if (e.dataset.key === key) {
      e.focus({ preventScroll: true });
      return;
    }
  }
}

// meanings returns a list of names and values.
function meanings(pairs) {
  return el('dl', { class: 'meanings' }, pairs.map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]).flat());
}
