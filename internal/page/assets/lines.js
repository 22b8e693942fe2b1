// Which cases are one line of a plot.

const fewLines = 8; // that can be told apart

// plottedCases are those of the table that have the figure, of processes that ended well.
function plottedCases(figure) { return filtered(inScope()).filter(c => c.figures[figure] && c.ok); }

// linesOf puts cases that differ only in the fields without into one line.
function linesOf(cases, without) {
  const values = new Map();
  for (const c of cases) {
    for (const [key, value] of fieldsOf(c)) {
      if (!values.has(key)) values.set(key, new Set());
      values.get(key).add(value);
    }
  }
  const varying = [...values.keys()].filter(key => values.get(key).size > 1 && key !== 'status');
  varying.sort((a, b) => (b === 'workload') - (a === 'workload'));
  const lines = new Map();
  for (const c of cases) {
    const fields = fieldsOf(c);
    const name = varying.filter(key => !without.includes(key) && fields.has(key)).map(key => (key === 'workload' ? '' : key + '=') + fields.get(key)).join(' ') || c.workload;
    if (!lines.has(name)) lines.set(name, { name, cases: [] });
    lines.get(name).cases.push(c);
  }
  return { lines: [...lines.values()], varying: varying.filter(key => !without.includes(key)) };
}

// grouped gives every line its colour: each its own or, where there are too many, that
// of the field which tells most of them apart, the executor first.
function grouped({ lines, varying }) {
  let key = null;
  if (lines.length > fewLines) {
    const count = k => new Set(lines.map(l => fieldsOf(l.cases[0]).get(k))).size;
    const fit = varying.filter(k => count(k) <= fewLines).sort((a, b) => count(b) - count(a));
    key = fit.includes('exec') ? 'exec' : fit[0] || '';
  }
  const names = [];
  for (const l of lines) {
    const value = key && fieldsOf(l.cases[0]).get(key);
    l.groupName = key === null ? l.name : key === '' ? 'all cases' : key === 'workload' ? value : key + '=' + (value || 'none');
    if (!names.includes(l.groupName)) names.push(l.groupName);
    l.group = names.indexOf(l.groupName);
  }
  return key;
}

// onSeveralCPUs are the cases that were measured with several numbers of CPUs.
function onSeveralCPUs(cases) {
  const counts = new Map();
  const name = c => JSON.stringify([c.workload, c.axes]);
  for (const c of cases) counts.set(name(c), (counts.get(name(c)) || new Set()).add(c.cpus));
  return cases.filter(c => counts.get(name(c)).size > 1);
}

const sameAsCPUs = 'CPUs'; // the workers of cases that have as many as CPUs

function workersOf(c) { return c.workers === sameAsCPUs ? c.cpus : Number(c.workers || 0); }

// ownWorkers are the cases, those of as many workers as CPUs as ones that differ in their
// CPUs only. Which were meant so is seen where a number of workers occurs at its own number
// of CPUs alone.
function ownWorkers(cases) {
  const own = c => workersOf(c) === c.cpus;
  const at = c => c.workload + ' ' + c.workers;
  const fixed = new Set(cases.filter(c => !own(c)).map(at)); // numbers of workers that occur elsewhere too
  const follow = new Set(cases.filter(c => own(c) && !fixed.has(at(c))).map(c => c.workload));
  return cases.flatMap(c => {
    if (!follow.has(c.workload)) return [c];
    return (fixed.has(at(c)) ? [c] : []).concat(own(c) ? [{ ...c, workers: sameAsCPUs }] : []);
  });
}
