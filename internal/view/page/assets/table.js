// The table of cases.

function renderChoices() {
  const workloads = [...new Set(data.cases.filter(c => c.env === state.env).map(c => c.workload))];
  if (state.workload && !workloads.includes(state.workload)) state.workload = '';
  options(byId('workload'), [['', 'All']].concat(workloads.map(w => [w, w])), state.workload);
  options(byId('environment'), data.environments.map((e, i) => [String(i), e.name]), String(state.env));
  byId('environment-choice').hidden = data.environments.length < 2;
  if (byId('query').value !== state.query) byId('query').value = state.query;
}

// options fills a select, unless it has these options already.
function options(select, list, value) {
  const same = select.options.length === list.length && list.every(([v, text], i) => select.options[i].value === v && select.options[i].text === text);
  if (!same) fill(select, list.map(([v, text]) => el('option', { value: v }, text)));
  select.value = value;
}

function renderTable() {
  const scope = inScope();
  const columns = columnsOf(scope);
  const rows = sorted(filtered(scope), columns);
  renderShared(scope);
  renderTableHead(columns);
  keepFocus(byId('tbody'), () => {
    const all = document.createDocumentFragment();
    for (const c of rows) all.append(rowOf(c, columns));
    if (!rows.length) all.append(el('tr', {}, el('td', { class: 'empty', colspan: columns.length + 1 }, scope.length ? 'No case matches the filter.' : 'No case yet.')));
    byId('tbody').replaceChildren(all);
  });
  byId('unfit').hidden = rows.every(c => c.ok || !Object.keys(c.figures).length);
  const counts = ['failed', ...refusals].map(status => [rows.filter(c => c.status === status).length, status]).filter(([n]) => n);
  byId('count').textContent = [rows.length + ' of ' + plural(scope.length, 'case'), ...counts.map(([n, status]) => n + ' ' + status)].join(', ');
  fill(byId('columns'), columns.map(c => [el('dt', {}, c.head + (c.unit ? ', ' + c.unit : '')), el('dd', {}, c.meaning)]).flat());
  markRows();
}

function renderShared(scope) {
  const { shared } = splitAxes(scope);
  for (const s of sharedSettings(scope)) shared.push([s.head, String(s.value(scope[0]))]);
  if (sharedOwners(scope)) shared.push([owner.head, sharedOwners(scope)]);
  if (scope.some(c => c.runs > 1) && scope.every(c => c.counted === scope[0].counted)) shared.push(['Runs', scope[0].counted + ' each: figures are medians, ± is the largest distance from the median']);
  fill(byId('shared'), shared.length ? [el('span', { class: 'muted' }, 'All cases:'), ...shared.map(([key, value]) => el('span', {}, key + ' ', el('b', {}, value)))] : []);
  byId('shared').hidden = !shared.length || scope.length < 2;
}

function renderTableHead(columns) {
  const down = state.sort.startsWith('-');
  const key = state.sort.slice(down ? 1 : 0);
  const cell = c => {
    const here = c.key === key;
    return el('th', { scope: 'col', class: classOf(c), 'aria-sort': here && (down ? 'descending' : 'ascending') },
      el('button', { type: 'button', 'data-key': c.key, title: c.meaning },
        el('span', {}, c.head, here ? el('span', { class: 'arrow', 'aria-hidden': 'true' }, down ? ' ▼' : ' ▲') : ''),
        el('small', {}, c.unit || ''), el('span', { class: 'hidden' }, c.meaning)));
  };
  keepFocus(byId('thead'), () => fill(byId('thead'), el('tr', {}, el('th', { scope: 'col', class: 'pick' }, el('span', { class: 'hidden' }, 'In the plots')), columns.map(cell))));
}

// classOf returns the classes for a column's layout. A narrow page has no columns for axes: the
// case's own cell shows them.
function classOf(column) {
  return [column.number && 'number', column.axis && 'axis', column.key === 'workload' && 'case-name'].filter(Boolean).join(' ') || undefined;
}

function rowOf(c, columns) {
  const row = el('tr', { 'data-key': c.id, tabindex: '-1' },
    el('td', { class: 'pick' }, el('input', { type: 'checkbox', tabindex: '-1', 'data-pick': c.id, disabled: !c.ok, 'aria-label': 'In the plots' })));
  for (const column of columns) {
    const value = column.value(c);
    const text = value === undefined ? '–' : String(column.text ? column.text(c) : column.number ? number(value) : value);
    const cell = el('td', { class: classOf(column) });
    if (column.key === 'workload') {
      cell.append(el('a', { href: '#c=' + c.id, tabindex: '-1', 'data-open': c.id }, text), el('small', { class: 'coordinates', 'aria-hidden': 'true' }, coordinates(c)));
    } else if (column.status) cell.append(el('span', { class: 'status ' + statusName(c.status) }, text), c.ok && c.counted < c.runs ? ' ' + (c.runs - c.counted) + ' of ' + c.runs : '');
    else cell.append(text);
    if (column.figure && value !== undefined && !c.ok) cell.append(el('span', { class: 'unfit' }, '*'));
    if (column.spread) cell.append(' ', el('span', { class: 'spread' }, column.spread(c)));
    row.append(cell);
  }
  return row;
}

// markRows shows which case is open and which are picked. The Tab key reaches one row, and
// the arrow keys move to the others.
function markRows() {
  const rows = [...byId('tbody').rows].filter(r => r.dataset.key);
  let reached = rows.find(r => r === document.activeElement) || rows.find(r => r.dataset.key === state.open) || rows[0];
  for (const r of rows) {
    const open = r.dataset.key === state.open;
    r.classList.toggle('open', open);
    if (open) r.setAttribute('aria-current', 'true');
    else r.removeAttribute('aria-current');
    r.tabIndex = r === reached ? 0 : -1;
    r.querySelector('input').checked = state.picked.includes(r.dataset.key);
  }
}

function focusRow(row) {
  if (!row || !row.dataset.key) return;
  for (const r of byId('tbody').rows) r.tabIndex = -1;
  row.tabIndex = 0;
  row.focus();
}

// rowKeys moves between rows, opens a case, or adds it to the plots.
function rowKeys(event) {
  const row = event.target.closest('tr');
  if (!row || !row.dataset.key || event.altKey || event.ctrlKey || event.metaKey) return;
  const body = byId('tbody').rows;
  const act = {
    ArrowDown: () => focusRow(row.nextElementSibling),
    ArrowUp: () => focusRow(row.previousElementSibling),
    Home: () => focusRow(body[0]),
    End: () => focusRow(body[body.length - 1]),
    Enter: () => openCase(row.dataset.key),
    ' ': () => pick(row.dataset.key),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

function rowClicks(event) {
  const { pick: picked, open } = event.target.dataset;
  if (picked) return pick(picked);
  if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab for the link
  const row = event.target.closest('tr');
  if (!open && (!row || !row.dataset.key || !getSelection().isCollapsed)) return;
  event.preventDefault();
  openCase(open || row.dataset.key);
}

function sortClicks(event) {
  const button = event.target.closest('button');
  if (!button) return;
  const key = button.dataset.key;
  state.sort = state.sort === key ? '-' + key : state.sort === '-' + key ? '' : key;
  choose([renderTable, renderPlots]);
}
