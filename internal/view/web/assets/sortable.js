// Tables that a reader can sort. sortable gives each head of a table a button: the first press sorts
// the rows in ascending order, the second in descending order, the third as they were written.

const fewRows = 3; // a table with at most so many rows is seen at once, and gets no buttons

// Sizes of the units that cells of one column may have, in seconds, bytes and numbers.
const unitSizes = {
  ns: 1e-9, us: 1e-6, 'µs': 1e-6, 'μs': 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600,
  B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 2 ** 20, GiB: 2 ** 30, k: 1e3, M: 1e6, G: 1e9, x: 1, '×': 1, '%': 1,
};

// sortKey returns what a cell is sorted by: the attribute data-value or, without one, the cell's text.
// It returns undefined for an empty cell, a number if the text begins with one, and else the text.
function sortKey(cell) {
  const text = (cell.dataset.value === undefined ? cell.textContent : cell.dataset.value).trim();
  if (text === '' || text === '-' || text === '–') return undefined;
  const found = /^[~<>≈]?\s*([-+−]?[\d,]*\.?\d+(?:e[-+]?\d+)?)(\s*)([^\s,;()/±]*)/i.exec(text);
  if (!found) return text;
  const [, digits, space, unit] = found;
  if (unit && !space && !(unit in unitSizes)) return text; // a date, a commit, a name
  return Number(digits.replace(/,/g, '').replace('−', '-')) * (unitSizes[unit] || 1);
}

// compareKeys orders what sortKey returns. Empty cells come last in both directions.
function compareKeys(a, b, down) {
  if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
  return down ? -order : order;
}

function sortable(table) {
  const head = table.tHead && table.tHead.rows[0], body = table.tBodies[0];
  if (!head || !body || body.rows.length <= fewRows) return;
  const written = [...body.rows];
  [...head.cells].forEach((th, column) => {
    if (!th.textContent.trim()) return; // a button needs a name
    const button = document.createElement('button'), arrow = document.createElement('span');
    button.type = 'button';
    button.className = 'sort';
    arrow.className = 'arrow';
    arrow.setAttribute('aria-hidden', 'true');
    button.append(...th.childNodes, arrow);
    th.replaceChildren(button);
    button.addEventListener('click', () => {
      const next = { ascending: 'descending', descending: null }[th.getAttribute('aria-sort')];
      const order = next === undefined ? 'ascending' : next;
      for (const other of head.cells) {
        other.removeAttribute('aria-sort');
        for (const mark of other.querySelectorAll('.arrow')) mark.textContent = '';
      }
      let rows = written;
      if (order) {
        th.setAttribute('aria-sort', order);
        arrow.textContent = order === 'ascending' ? ' ▲' : ' ▼';
        rows = written.map(row => [sortKey(row.cells[column]), row]);
        // Numbers are compared as numbers only if all cells are numbers.
        if (rows.some(([key]) => typeof key === 'string')) rows = rows.map(([key, row]) => [key === undefined ? key : row.cells[column].textContent.trim(), row]);
        rows = rows.sort(([a], [b]) => compareKeys(a, b, order === 'descending')).map(([, row]) => row);
      }
      body.append(...rows);
    });
  });
}
