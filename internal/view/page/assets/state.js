// What the reader has chosen. The address has it after #, so that a link shows the same.

let data = null; // the page's data, as the program wrote it

const plotNames = ['throughput', 'latency', 'percentiles', 'distribution', 'timeline'];
const mostPicked = 3;

const state = {
  env: 0,
  workload: '', // '': all
  query: '',
  sort: '', // a column's key, after '-' for descending order; '': as measured
  open: '', // id of a case
  plot: plotNames[0],
  measure: 'latency-p99',
  picked: [], // ids of cases in the plots of single cases
};

// defaultPlot returns the plot that shows most of the data: by CPUs only if some line has several numbers
// of them, by load only if some line has several loads, and else one case by percentile.
function defaultPlot() {
  const cpus = l => new Set(l.cases.map(id => caseOf(id).cpus)).size;
  if (data.lines.throughput.some(l => cpus(l) > 1)) return 'throughput';
  return data.lines.load.some(l => l.cases.length > 1) ? 'latency' : 'percentiles';
}

function caseOf(id) { return data.cases.find(c => c.id === id); }

// addressOf returns the part of the address after #.
function addressOf(s) {
  const p = new URLSearchParams();
  if (s.env > 0 && data.environments[s.env]) p.set('e', data.environments[s.env].name);
  if (s.workload) p.set('w', s.workload);
  if (s.query) p.set('q', s.query);
  if (s.sort) p.set('s', s.sort);
  if (s.open) p.set('c', s.open);
  if (s.plot !== defaultPlot()) p.set('p', s.plot);
  if (s.measure !== 'latency-p99') p.set('y', s.measure);
  if (s.picked.length) p.set('x', s.picked.join(','));
  return '#' + p.toString();
}

// readAddress sets the state from the address. It ignores an address without a setting, such
// as the link to a heading.
function readAddress() {
  const hash = location.hash.slice(1);
  if (hash && !hash.includes('=')) return;
  const p = new URLSearchParams(hash);
  state.env = Math.max(0, data.environments.findIndex(e => e.name === p.get('e')));
  state.workload = p.get('w') || '';
  state.query = p.get('q') || '';
  state.sort = p.get('s') || '';
  state.open = caseOf(p.get('c')) ? p.get('c') : '';
  state.plot = plotNames.includes(p.get('p')) ? p.get('p') : defaultPlot();
  state.measure = p.get('y') || 'latency-p99';
  state.picked = (p.get('x') || '').split(',').filter(caseOf).slice(0, mostPicked);
  if (state.open) state.env = caseOf(state.open).env;
}

// writeAddress writes the state into the address. If step is set, the browser's back button
// returns to the state before.
function writeAddress(step) {
  const address = addressOf(state);
  if (address === (location.hash || '#')) return;
  history[step ? 'pushState' : 'replaceState'](null, '', address);
}
