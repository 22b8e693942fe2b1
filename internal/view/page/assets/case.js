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
    el('p', { class: 'small' }, el('span', { class: 'status ' + c.status }, c.status), ' · ' + runs),
    c.ok ? [] : el('p', { class: 'notice small' }, 'The figures are from processes that failed or were stopped, because none succeeded. Plots do not show them.'),
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
    items.map(f => el('p', { class: 'small' + (bad ? ' errors' : '') }, el('b', {}, f.name + inProcesses(f, c) + ': '), f.text))));
  return [list('Errors', c.errors, true), list('Findings', c.findings),
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

function wideTable(head, rows) {
  return el('div', { class: 'scroll' }, el('table', {},
    el('thead', {}, el('tr', {}, head.map(([text, kind]) => el('th', { scope: 'col', class: kind }, text)))),
    el('tbody', {}, rows)));
}

// figureBlocks returns the case's figures, group by group.
function figureBlocks(c) {
  const groups = new Map();
  for (const f of data.figures) {
    if (!c.figures[f.name]) continue;
    if (!groups.has(f.group)) groups.set(f.group, []);
    groups.get(f.group).push(f);
  }
  const several = c.counted > 1;
  const whose = f => (c.whose || {})[f.name];
  const head = owned => [['Figure', ''], [several ? 'Median' : 'Value', 'number']].concat(several ? [['Minimum – maximum', 'number']] : [], owned ? [['Of', '']] : []);
  const row = owned => f => {
    const [middle, least, greatest] = c.figures[f.name];
    const range = least === undefined ? 'the same' : withUnit([least, greatest], f.unit, f.exact);
    return el('tr', { title: f.meaning }, el('td', { class: 'text' }, f.label, el('span', { class: 'hidden' }, ', ' + f.meaning)), el('td', { class: 'number' }, withUnit([middle], f.unit, f.exact) + fewMark(c, f)),
      several ? el('td', { class: 'number' + (least === undefined ? ' muted' : '') }, range) : [],
      owned ? el('td', { class: 'text' }, whose(f) || '–') : []);
  };
  return [...groups].map(([name, figures]) => {
    const owned = figures.some(whose);
    return block(name, wideTable(head(owned), figures.map(row(owned))));
  });
}

function stageBlock(c) {
  if (!c.stages) return [];
  const some = key => c.stages.some(s => s[key]);
  const head = [['Stage', ''], ['Time', 'number']].concat(some('peak') ? [['Peak memory', 'number']] : [], some('allocated') ? [['Allocated', 'number']] : [], some('whose') ? [['Memory of', '']] : [], some('sizes') ? [['Figures', '']] : []);
  const bytes = v => (v ? withUnit([v], 'B') : '–');
  return block(c.counted > 1 ? 'Stages, medians' : 'Stages', wideTable(head, c.stages.map(s => el('tr', {},
    el('td', {}, s.name), el('td', { class: 'number' }, withUnit([s.time], 'ns')),
    some('peak') ? el('td', { class: 'number' }, bytes(s.peak)) : [],
    some('allocated') ? el('td', { class: 'number' }, bytes(s.allocated)) : [],
    some('whose') ? el('td', { class: 'text' }, s.whose || '–') : [],
    some('sizes') ? el('td', { class: 'text' }, (s.sizes || []).map(p => p.join(' ')).join(', ')) : []))));
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
