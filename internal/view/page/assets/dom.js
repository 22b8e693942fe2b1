// Building the document. Data come in as text only: no function here reads them as
// markup, and attributes that hold data are values, labels and links within the page.

function byId(id) { return document.getElementById(id); }

// el makes an element: attributes first, then children, each a node or a text.
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

// keepFocus runs draw, which builds the inside of box anew, and gives the focus back
// to the element of the same data-key.
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

// meanings is a list of names and values.
function meanings(pairs) {
  return el('dl', { class: 'meanings' }, pairs.map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]).flat());
}
