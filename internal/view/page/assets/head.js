// Title, facts, environments, findings.

function renderHead() {
  byId('title').textContent = data.title;
  byId('headline').textContent = headline();
  byId('when').textContent = data.began ? 'Measured on ' + when(data.began, data.ended) : '';
  byId('busy').hidden = !data.disturbed;
  byId('busy').textContent = data.disturbed ? 'Busy machine: ' + data.disturbed : '';
  const failed = data.cases.filter(c => c.status === 'failed').length;
  const partial = data.cases.filter(c => c.status === 'partial').length;
  const facts = [
    ['Cases', number(data.cases.length)],
    ['Processes', number(data.processes)],
    ['Failed cases', number(failed), failed > 0],
  ];
  if (partial) facts.push(['Stopped early', number(partial), true]);
  if (data.began) facts.push(['Time', lasting((new Date(data.ended) - new Date(data.began)) / 1000)]);
  fill(byId('facts'), facts.map(([name, value, bad]) => el('div', {}, el('dt', {}, name), el('dd', { class: bad && 'bad' }, value))));
}

const mostBest = 3; // workloads that the headline names

// headline says what was measured and where. For each workload it names the case with the highest
// throughput; for a single workload also the case with the lowest.
function headline() {
  const workloads = [...new Set(data.cases.map(c => c.workload))];
  const where = data.environments.length > 1 ? plural(data.environments.length, 'environment') : data.environments.map(e => e.summary).join('');
  const what = (workloads.length === 1 ? workloads[0] + ', ' : plural(workloads.length, 'workload') + ', ') + plural(data.cases.length, 'case') + (where ? ', on ' + where : '') + '.';
  const loads = data.cases.filter(c => c.ok && c.figures.throughput).sort((a, b) => b.figures.throughput[0] - a.figures.throughput[0]);
  if (!data.cases.length || !loads.length) return data.cases.length ? what : '';
  const scale = scaleOf('ns', loads.map(c => (c.figures['latency-p50'] || [0])[0]));
  const speed = c => number(c.figures.throughput[0]) + ' ops/s' + (c.figures['latency-p50'] ? ' (P50 ' + scale.write(c.figures['latency-p50'][0] / scale.divide) + ' ' + scale.unit + ')' : '');
  if (workloads.length === 1) {
    const [most, least] = [loads[0], loads[loads.length - 1]];
    return what + ' Highest throughput: ' + speed(most) + ' with ' + coordinates(most) + (least === most ? '.' : '; lowest: ' + speed(least) + ' with ' + coordinates(least) + '.');
  }
  const best = workloads.map(w => loads.find(c => c.workload === w)).filter(Boolean);
  const named = best.slice(0, mostBest).map(c => nameOf(c) + ' ' + speed(c));
  return what + ' Highest throughput of each: ' + named.join('; ') + (best.length > mostBest ? '; and ' + plural(best.length - mostBest, 'other') : '') + '.';
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

// findingsByName returns the errors, then the findings, each name with its cases.
function findingsByName() {
  const names = new Map();
  const add = (c, f, bad) => {
    const key = (bad ? '0' : '1') + f.name;
    if (!names.has(key)) names.set(key, { name: f.name, bad, list: [] });
    names.get(key).list.push({ c, f });
  };
  for (const c of data.cases) {
    for (const f of c.errors || []) add(c, f, true);
    for (const f of c.findings || []) add(c, f, false);
  }
  return [...names].sort(([a], [b]) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)).map(([, group]) => group);
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
    return el('details', { class: 'finding small' + (group.bad ? ' bad' : ''), 'data-key': key, open },
      el('summary', { 'data-key': key }, el('b', { class: group.bad && 'errors' }, group.name), ' in ' + plural(cases, 'case')), el('ul', {}, items));
  };
  keepFocus(box, () => fill(box, groups.map(one)));
}

// inProcesses says in how many of a case's processes something was found.
function inProcesses(f, c) {
  return c.runs > 1 ? ' (' + f.runs + ' of ' + plural(c.runs, 'process', 'processes') + ')' : '';
}
