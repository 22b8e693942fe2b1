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

// svg creates an element of a drawing. Its namespace is that of the page's template swatch, because the
// page has no addresses, not even those that are only names.
function svg(name, attributes, ...children) {
  const e = document.createElementNS(byId('swatch').content.firstElementChild.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children.flat());
  return e;
}

// dataTable returns a table that can be sorted. A column has head, unit, number (its cells are
// numbers) and wide (its cells are long texts). A cell is a text, or a text and the value to sort by;
// undefined is an empty cell.
function dataTable(columns, rows) {
  const kind = c => [c.number && 'number', c.wide && 'text'].filter(Boolean).join(' ') || undefined;
  const cell = (content, i) => {
    const [text, value] = Array.isArray(content) ? content : [content];
    return el('td', { class: kind(columns[i]), 'data-value': value }, text === undefined ? '–' : text);
  };
  const table = el('table', {},
    el('thead', {}, el('tr', {}, columns.map(c => el('th', { scope: 'col', class: kind(c) }, c.head, c.unit ? el('small', {}, c.unit) : '')))),
    el('tbody', {}, rows.map(row => el('tr', {}, row.map(cell)))));
  sortable(table);
  return table;
}
