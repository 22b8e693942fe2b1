// Title, facts, environments, findings.

const refusals = ['refused', 'too large']; // statuses of cases that did not run, on purpose


function renderHead() {
  byId('title').textContent = data.title;
  byId('busy').hidden = !data.disturbed;
  byId('busy').textContent = data.disturbed ? 'Busy machine: ' + data.disturbed : '';
  const having = status => data.cases.filter(c => c.status === status).length;
  const failed = having('failed');
  const facts = [
    ['Cases', number(data.cases.length)],
    ['Processes', number(data.processes)],
    ['Failed cases', number(failed), failed > 0],
  ];
  for (const [head, status] of [['Too large', 'too large'], ['Refused', 'refused'], ['Stopped early', 'partial']]) {
    if (having(status)) facts.push([head, number(having(status))]);
  }
  if (data.began) facts.push(['Time', lasting((new Date(data.ended) - new Date(data.began)) / 1000)]);
  fill(byId('facts'), facts.map(([name, value, bad]) => el('div', {}, el('dt', {}, name), el('dd', { class: bad && 'bad' }, value))));
}

function renderEnvironments() {
  const several = data.environments.length > 1;
  byId('environment-title').textContent = several ? 'Environments' : 'Environment';
  const box = byId('environments');
  const open = new Set([...box.querySelectorAll('details[open]')].map(d => d.dataset.key));
  const one = e => {
    const cases = data.cases.filter(c => data.environments[c.env] === e).length;
    const parts = [el('p', {}, several ? el('b', {}, e.name + ' ') : '', el('bdi', {}, e.summary), several ? ' (' + plural(cases, 'case') + ')' : '')];
    if (e.differences) {
      parts.push(el('div', { class: 'small' }, 'Differences from ' + data.environments[0].name + ':', el('ul', {}, e.differences.map(d => el('li', {}, d)))));
    }
    parts.push(el('details', { class: 'small', 'data-key': 'env ' + e.name, open: open.has('env ' + e.name) },
      el('summary', { 'data-key': 'env ' + e.name }, 'All details'), meanings(e.facts)));
    return el('div', { class: 'environment' }, parts);
  };
  keepFocus(box, () => fill(box,
    several ? el('p', { class: 'muted small' }, 'Figures from different environments cannot be compared: tables and plots show one environment at a time.') : [],
    data.environments.map(one)));
}

const mostListed = 200; // cases of one finding
const fewFindings = 6; // up to this many, all are open at first

// findingsByName returns the errors, then the refusals, then the findings, each name with its cases.
function findingsByName() {
  const names = new Map();
  const add = (c, f, rank) => {
    const key = rank + f.name;
    if (!names.has(key)) names.set(key, { name: f.name, bad: rank === 0, list: [] });
    names.get(key).list.push({ c, f });
  };
  for (const c of data.cases) {
    for (const f of c.errors || []) add(c, f, refusals.includes(f.name) ? 1 : 0);
    for (const f of c.findings || []) {
      if (f.name !== 'refused' || !refusals.includes(c.status)) add(c, f, 2); // else its error says more
    }
  }
  return [...names].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, group]) => group);
}

function renderFindings() {
  const groups = findingsByName();
  byId('findings-section').hidden = groups.length === 0;
  const box = byId('findings');
  const known = new Map([...box.querySelectorAll('details')].map(d => [d.dataset.key, d.open]));
  const few = groups.reduce((n, g) => n + g.list.length, 0) <= fewFindings;
  const one = group => {
    const key = 'finding ' + group.bad + group.name;
    const open = known.has(key) ? known.get(key) : few || group.bad && group.list.length <= fewFindings;
    const items = group.list.slice(0, mostListed).map(({ c, f }) => el('li', {},
      el('p', {}, el('a', { href: '#c=' + c.id, 'data-open': c.id, 'data-key': key + c.id + f.text }, nameOf(c)), inProcesses(f, c)),
      el('p', { class: group.bad && 'errors' }, f.text)));
    if (group.list.length > mostListed) items.push(el('li', {}, 'and ' + (group.list.length - mostListed) + ' more'));
    const cases = new Set(group.list.map(({ c }) => c)).size;
    return el('div', { class: 'finding small' + (group.bad ? ' bad' : '') }, explanation(group),
      el('details', { 'data-key': key, open }, el('summary', { 'data-key': key }, plural(cases, 'case')), el('ul', {}, items)));
  };
  keepFocus(box, () => fill(box, groups.map(one)));
}

// explanation says what a finding means and what to do. A finding that the program does not know is only named.
function explanation(group) {
  const [meaning, advice] = data.explained[refusals.includes(group.name) ? 'refused' : group.name] || ['', ''];
  return [
    el('p', {}, el('b', { class: group.bad && 'errors' }, group.name), meaning ? ': ' + meaning : ''),
    meaning || group.bad ? el('p', {}, el('b', {}, 'What to do: '), advice || (group.bad ? 'Read the error, and repeat the case with its command.' : 'Nothing; this is for your information.')) : [],
  ].flat();
}

// inProcesses says in how many of a case's processes something was found.
function inProcesses(f, c) {
  return c.runs > 1 ? ' (' + f.runs + ' of ' + plural(c.runs, 'process', 'processes') + ')' : '';
}
