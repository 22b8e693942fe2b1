// One case: its figures, how it was measured, what was found, the command.

let drawnCase = ''; // the data of the case that the section shows

function renderCase() {
  const section = byId('case');
  const c = caseOf(state.open);
  section.hidden = !c;
  const now = c ? JSON.stringify(c) : '';
  if (now === drawnCase) return;
  drawnCase = now;
  if (c) keepFocus(section, () => fill(section, caseHead(c), caseCommand(c), caseProblems(c), el('div', { class: 'columns' }, caseBlocks(c))));
}

function caseHead(c) {
  const axes = c.axes.concat([['cpus', String(c.cpus)]], c.workers ? [['workers', c.workers]] : []);
  if (data.environments.length > 1) axes.push(['environment', data.environments[c.env].name]);
  const runs = c.counted === c.runs ? plural(c.runs, 'process', 'processes') : c.counted + ' of ' + c.runs + ' processes in the figures';
  return [
    el('div', { class: 'case-head' },
      el('h2', { id: 'case-title', tabindex: '-1', 'data-key': 'case title' }, c.workload),
      el('button', { type: 'button', class: 'button', id: 'close', 'data-key': 'close' }, 'Close')),
    el('p', { class: 'case-axes small' }, axes.map(([key, value]) => el('span', {}, el('span', { class: 'muted' }, key + ' '), el('b', {}, value)))),
    el('p', { class: 'small' }, el('span', { class: 'status ' + statusName(c.status) }, c.status), ' · ' + runs),
    c.ok ? [] : refusals.includes(c.status) ? el('p', { class: 'small' }, 'The case was not measured, on purpose; see its error.') : el('p', { class: 'notice small' }, 'The figures are from processes that failed or were stopped, because none succeeded. Plots do not show them.'),
  ].flat();
}

function caseCommand(c) {
  if (!c.command) return [];
  const words = c.command.split(' ').map((word, i) => [i ? ' ' : '', el('span', {}, word)]).flat(); // lines break between words only
  return el('div', { class: 'command' },
    el('code', { id: 'command' }, words),
    el('button', { type: 'button', class: 'button', id: 'copy', 'data-key': 'copy' }, 'Copy'),
    el('span', { class: 'hidden', role: 'status', id: 'copied' }));
}

function caseProblems(c) {
  const list = (title, items, bad) => (!items ? [] : el('div', { class: 'block' }, el('h3', {}, title),
    items.map(f => el('p', { class: 'small' + (bad ? ' errors' : '') }, el('b', {}, f.name + inProcesses(f, c) + ': '), f.text,
      data.explained[f.name] ? el('span', { class: 'muted' }, ' ' + data.explained[f.name].filter(Boolean).join(' ')) : ''))));
  return [list('Errors', c.errors, !refusals.includes(c.status)), list('Findings', c.findings),
    c.note ? el('p', { class: 'notice small' }, c.note) : []].flat();
}

function caseBlocks(c) {
  return [figureBlocks(c), stageBlock(c),
    block('How it was measured', meanings(c.settings || [])),
    c.counters ? block(c.counted > 1 ? 'Operations, sum of all processes' : 'Operations', meanings(c.counters.map(([name, n]) => [name, isFinite(n) ? number(Number(n)) : n]))) : []].flat();
}

function block(title, ...content) {
  return el('div', { class: 'block small' }, el('h3', {}, title), content);
}

// figureBlocks returns the case's figures, group by group. A row's unit stands after the name of its figure.
function figureBlocks(c) {
  const groups = new Map();
  for (const f of data.figures) {
    if (!c.figures[f.name]) continue;
    if (!groups.has(f.group)) groups.set(f.group, []);
    groups.get(f.group).push(f);
  }
  const several = c.counted > 1;
  const whose = f => (c.whose || {})[f.name];
  return [...groups].map(([name, figures]) => {
    const owned = figures.some(whose);
    const columns = [
      { head: 'Figure', wide: true }, { head: several ? 'Median' : 'Value', number: true },
      ...(several ? [{ head: 'Minimum – maximum', number: true }] : []), ...(owned ? [{ head: 'Of', wide: true }] : []),
    ];
    const rows = figures.map(f => {
      const values = c.figures[f.name], [middle, least, greatest] = values;
      const scale = scaleOf(f.unit, values.map(Math.abs), f.exact), cell = v => [scale.write(v / scale.divide), v];
      const unit = scale.unit === f.label ? '' : scale.unit; // a count of what its name says
      const label = el('span', { title: f.meaning }, f.label, unit ? el('span', { class: 'muted' }, ', ' + unit) : '', el('span', { class: 'hidden' }, ', ' + f.meaning));
      const first = cell(middle);
      first[0] += fewMark(c, f);
      const range = least === undefined ? ['the same', 0] : [cell(least)[0] + ' – ' + cell(greatest)[0], (greatest - least) / Math.abs(middle)];
      return [[label, f.label], first, ...(several ? [range] : []), ...(owned ? [whose(f)] : [])];
    });
    return block(name, el('div', { class: 'scroll' }, dataTable(columns, rows)));
  });
}

function stageBlock(c) {
  if (!c.stages) return [];
  const some = key => c.stages.some(s => s[key]);
  const owners = [...new Set(c.stages.map(s => s.whose).filter(Boolean))];
  const measured = (head, key, unit) => {
    const scale = scaleOf(unit, c.stages.map(s => s[key] || 0));
    return [{ head, unit: scale.unit, number: true }, s => (s[key] || unit === 'ns' ? [scale.write((s[key] || 0) / scale.divide), s[key] || 0] : undefined)];
  };
  const columns = [
    [{ head: 'Stage', wide: true }, s => s.name], measured('Time', 'time', 'ns'),
    some('peak') && measured('Peak memory', 'peak', 'B'), some('allocated') && measured('Allocated', 'allocated', 'B'),
    owners.length > 1 && [{ head: 'Memory of', wide: true }, s => s.whose],
    some('sizes') && [{ head: 'Figures', wide: true }, s => (s.sizes || []).map(p => p.join(' ')).join(', ')],
  ].filter(Boolean);
  return block(c.counted > 1 ? 'Stages, medians' : 'Stages', owners.length === 1 ? el('p', { class: 'muted' }, 'Memory of ' + owners[0] + '.') : '', el('div', { class: 'scroll' }, dataTable(columns.map(([column]) => column), c.stages.map(s => columns.map(([, cell]) => cell(s))))));
}

function openCase(id) {
  const c = caseOf(id);
  if (!c) return;
  state.open = id;
  if (state.env !== c.env) {
    state.env = c.env;
    renderChoices();
    renderTable();
  }
  choose([markRows, renderCase, renderPlots], true);
  byId('case').scrollIntoView({ block: 'nearest' });
  byId('case-title').focus({ preventScroll: true });
}

// closeCase closes the case and moves the focus to its row, if there is one.
function closeCase() {
  const id = state.open;
  state.open = '';
  choose([markRows, renderCase, renderPlots], true);
  const row = [...byId('tbody').rows].find(r => r.dataset.key === id);
  if (row) focusRow(row);
  else byId('cases').focus();
}

// copyCommand copies with the clipboard API. A page from a file may not have it; then it copies
// the selection.
async function copyCommand() {
  const text = byId('command').textContent;
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    getSelection().selectAllChildren(byId('command'));
    done = document.execCommand('copy');
  }
  const button = byId('copy');
  if (!button) return; // the case was closed meanwhile
  button.textContent = done ? 'Copied' : 'Selected';
  byId('copied').textContent = done ? 'The command has been copied' : 'The command is selected';
  setTimeout(() => { button.textContent = 'Copy'; }, 2000);
}

function caseClicks(event) {
  if (event.target.id === 'close') closeCase();
  if (event.target.id === 'copy') copyCommand();
}
