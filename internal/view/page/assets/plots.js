// The content of each plot. A plot is {about, charts, empty}.

const plots = {
  throughput: { title: 'Throughput by CPUs', build: throughputPlot },
  latency: { title: 'Latency by throughput', build: latencyPlot },
  percentiles: { title: 'Percentiles', build: percentilePlot },
  distribution: { title: 'Distribution', build: distributionPlot },
  timeline: { title: 'Timeline', build: timelinePlot },
};

// ranged returns a value with the minimum and maximum of the repetitions, scaled.
function ranged([middle, least, greatest], divide) {
  return least === undefined ? [middle / divide] : [middle / divide, least / divide, greatest / divide];
}

// The columns of a figure in the table of a plot's values, and the cells of one of its points.
function valueColumns(head, scale, ranged) {
  return [{ head, unit: scale.unit, number: true }].concat(ranged ? [{ head: 'least', unit: scale.unit, number: true }, { head: 'most', unit: scale.unit, number: true }] : []);
}

function valueCells(scale, ranged, value, least, greatest) {
  const cell = v => (v === undefined ? undefined : [scale.write(v), v]);
  return [cell(value)].concat(ranged ? [cell(least), cell(greatest)] : []);
}

function haveRange(cases) { return cases.some(c => c.counted > 1); }

const loadColumns = [{ head: 'CPUs', number: true }, { head: 'Workers', number: true }];

function loadCells(c) { return [[String(c.cpus), c.cpus], c.workers ? [c.workers, Number(c.workers)] : undefined]; }

// inWords returns a scaled value as text.
function inWords(scale, value, least, greatest) {
  return scale.write(value) + ' ' + scale.unit + (least === undefined ? '' : ' (' + scale.write(least) + ' – ' + scale.write(greatest) + ')');
}

const operations = scaleOf('ops/s', []);

function spreadNote(cases) { return cases.some(c => c.counted > 1) ? ' Error bars show the range of the repetitions.' : ''; }

function colourNote(key) { return key ? ' Colours show ' + key + '; point at a dot to see its case.' : ''; }

function throughputPlot() {
  const cases = plottedCases('throughput');
  if (!cases.length) return { empty: 'No case in the table has a throughput.' };
  const found = linesOf('throughput', cases);
  const several = found.lines.some(l => fastest(l.cases).length < l.cases.length);
  const key = grouped(found), wide = haveRange(cases);
  const lines = found.lines.map(l => ({
    name: l.name, group: l.group, groupName: l.groupName, workload: l.cases[0].workload,
    points: fastest(l.cases).map(c => {
      const [y, lo, hi] = c.figures.throughput;
      return { x: c.cpus, y, lo, hi, cells: [...loadCells(c), ...valueCells(operations, wide, y, lo, hi)], say: plural(c.cpus, 'CPU') + ', ' + (c.workers ? plural(Number(c.workers), 'worker') + ', ' : '') + inWords(operations, y, lo, hi) };
    }),
  }));
  const x = cpuAxis(cases);
  return {
    about: 'Operations per second by the number of processors that a case may use' + (several ? ', at the number of workers with the highest throughput' : '') + '.' + spreadNote(cases) + colourNote(key),
    charts: faceted(lines, (title, of) => ({
      label: title('Throughput by CPUs'), height: plotHeight(), x, y: axisOver('throughput, ops/s', allOf(of)), kind: 'points', joined: true, lines: of,
      columns: [...loadColumns, ...valueColumns('Throughput', operations, wide)],
    })),
  };
}

// cpuAxis returns the horizontal axis of the cases' numbers of CPUs.
function cpuAxis(cases) { return valueAxis('CPUs', cases.map(c => c.cpus)); }

// valueAxis returns a logarithmic axis with a tick for each of the values.
function valueAxis(label, values) {
  const all = [...new Set(values)].sort((a, b) => a - b);
  return { label, log: true, range: [all[0] / 1.3, all[all.length - 1] * 1.3], ticks: all.map(n => [n, number(n)]) };
}

const mostFacets = 8; // maximum number of charts

// faceted makes a chart for each workload, because their figures differ in size. If there are
// too many workloads, the last chart has the rest.
function faceted(lines, chart) {
  const workloads = [...new Set(lines.map(l => l.workload))];
  if (workloads.length === 1) return [chart(label => label, lines)];
  const own = workloads.slice(0, workloads.length > mostFacets ? mostFacets - 1 : mostFacets);
  const facets = own.map(w => [w, lines.filter(l => l.workload === w)]);
  const rest = lines.filter(l => !own.includes(l.workload));
  if (rest.length) facets.push([plural(workloads.length - own.length, 'other workload'), rest]);
  return facets.map(([name, of]) => ({ ...chart(label => name + ': ' + label, of), title: name }));
}

// fastest returns, for each number of CPUs, the case of a line with the highest
// throughput.
function fastest(cases) {
  const best = new Map();
  for (const c of cases) {
    const have = best.get(c.cpus);
    if (!have || c.figures.throughput[0] > have.figures.throughput[0]) best.set(c.cpus, c);
  }
  return [...best.values()];
}

// allOf returns the values that a vertical axis must include.
function allOf(lines) { return lines.flatMap(l => l.points.flatMap(p => [p.y, p.lo, p.hi])).filter(v => v !== undefined); }

const measures = ['latency-p50', 'latency-p95', 'latency-p99', 'latency-mean', 'response-p50', 'response-p99'];

function measureFigures() { return data.figures.filter(f => measures.includes(f.name)).sort((a, b) => measures.indexOf(a.name) - measures.indexOf(b.name)); }

const mostNamed = 12; // up to this many points have full names; more have numbers

// latencyPlot draws the same as the suite's document: a line is a case at different numbers of
// CPUs. If no case has several, a line is a case at different loads.
function latencyPlot() {
  const all = plottedCases(state.measure).filter(c => c.figures.throughput);
  if (!all.length) return { empty: 'No case in the table has this latency.' };
  let found = linesOf('cpus', all);
  const byCPUs = found.lines.some(l => l.cases.length > 1);
  if (byCPUs) found.lines = found.lines.filter(l => l.cases.length > 1 || l.size === 1); // without lines that the filter cut down to one case
  else found = linesOf('load', all);
  const cases = found.lines.flatMap(l => l.cases);
  const key = grouped(found), wide = haveRange(cases);
  const scale = scaleOf('ns', cases.map(c => c.figures[state.measure][0]));
  const lines = found.lines.map(l => ({
    name: l.name, group: l.group, groupName: l.groupName, workload: l.cases[0].workload,
    points: l.cases.map(c => {
      const [x, xlo, xhi] = c.figures.throughput, [y, lo, hi] = ranged(c.figures[state.measure], scale.divide);
      const name = !byCPUs ? undefined : cases.length > mostNamed ? String(c.cpus) : plural(c.cpus, 'CPU');
      const workers = c.workers ? plural(Number(c.workers), 'worker') + ', ' : '';
      const cells = [...loadCells(c), ...valueCells(operations, wide, x, xlo, xhi), ...valueCells(scale, wide, y, lo, hi)];
      return { x, xlo, xhi, y, lo, hi, name, cells, say: plural(c.cpus, 'CPU') + ', ' + workers + inWords(operations, x) + ', ' + inWords(scale, y, lo, hi) };
    }),
  }));
  const label = data.figures.find(f => f.name === state.measure).label;
  const left = byCPUs ? all.length - new Set(cases).size : 0;
  return {
    about: (byCPUs ? 'Each point is a case; lines join cases that differ only in their CPUs.' : 'Each point is a case; lines join cases that differ only in their load.') +
      (byCPUs && cases.length > mostNamed ? ' Numbers beside points are CPUs.' : '') + spreadNote(cases) + colourNote(key) +
      (left ? ' ' + plural(left, 'case') + ' measured on one number of CPUs ' + (left === 1 ? 'is' : 'are') + ' not drawn; use the filter to show them.' : ''),
    charts: faceted(lines, (title, of) => ({
      label: title(label + ' by throughput'), height: plotHeight(), kind: 'points', joined: true, lines: of,
      columns: [...loadColumns, ...valueColumns('Throughput', operations, wide), ...valueColumns(label, scale, wide)],
      x: axisOver('throughput, ops/s', of.flatMap(l => l.points.flatMap(p => [p.x, p.xhi || p.x]))), y: axisOver(label + ', ' + scale.unit, allOf(of)),
    })),
  };
}

// singleCases returns the cases for plots of single cases: the open one and the picked ones, or
// the first case of the table if there are none.
function singleCases(has) {
  const ids = [...new Set([state.open, ...state.picked].filter(Boolean))].slice(0, mostPicked);
  const fit = c => c && c.env === state.env && c.ok && has(c);
  const cases = ids.map(caseOf).filter(fit);
  return cases.length ? cases : shownCases().filter(fit).slice(0, 1);
}

function chosenNote(cases) {
  const first = [state.open, ...state.picked].includes(cases[0].id) ? '' : ', the first in the table';
  return cases.map(nameOf).join('; ') + first + '. ';
}

function whatLatency(l) { return l.of === 'response' ? 'response time, from the intended start' : 'service time'; }

function percentilePlot() {
  const cases = singleCases(c => c.latency);
  return cases.length ? percentilesOf(cases, chosenNote(cases)) : { empty: 'No case in the table has a distribution of latencies.' };
}

// percentilesOf returns the plot of the latencies of cases by percentile. note says which cases they are.
function percentilesOf(cases, note) {
  const scale = scaleOf('ns', cases.flatMap(c => c.latency.values));
  const nines = i => 1 / (1 - data.percentiles[i] / 100);
  const percentile = i => 'P' + Number(data.percentiles[i].toFixed(data.percentiles[i] < 99 ? 1 : 3));
  const wide = cases.some(c => c.latency.least);
  const lines = cases.map((c, group) => {
    const l = c.latency;
    const points = l.values.map((v, i) => {
      const inBand = l.least && i < l.least.length;
      const [y, lo, hi] = ranged(inBand ? [v, l.least[i], l.greatest[i]] : [v], scale.divide);
      return { x: nines(i), y, lo, hi, cells: [[percentile(i), data.percentiles[i]], ...valueCells(scale, wide, y, lo, hi)], say: percentile(i) + ' ' + inWords(scale, y, lo, hi) };
    });
    return { name: nameOf(c), groupName: nameOf(c), group, points };
  });
  const last = Math.max(...lines.map(l => l.points[l.points.length - 1].x), 10);
  const ticks = [[1, '0'], [2, '50%'], [10, '90%'], [100, '99%'], [1000, '99.9%'], [1e4, '99.99%'], [1e5, '99.999%']].filter(([at]) => at <= last * 1.01);
  return {
    about: note + 'The latency that each share of the operations did not exceed: ' + whatLatency(cases[0].latency) + ', all repetitions together.' +
      (wide ? ' Bands show the range of the repetitions.' : ''),
    charts: [{
      label: 'Latency by percentile', height: plotHeight(), kind: 'line', lines, columns: [{ head: 'Percentile', number: true }, ...valueColumns('Latency', scale, wide)],
      x: { label: 'share of operations', log: true, range: [1, last * 1.05], ticks }, y: axisOver('latency, ' + scale.unit, allOf(lines)),
    }],
  };
}

function distributionPlot() {
  const [c] = singleCases(c => c.latency);
  if (!c) return { empty: 'No case in the table has a distribution of latencies.' };
  const l = c.latency;
  const scale = scaleOf('ns', l.values);
  const edge = i => l.from * Math.pow(l.ratio, i) / scale.divide;
  const cell = v => [scale.write(v), v];
  const points = l.counts.map((n, i) => ({ x: edge(i), to: edge(i + 1), y: n, cells: [cell(edge(i)), cell(edge(i + 1)), [number(n), n]], say: scale.write(edge(i)) + ' – ' + inWords(scale, edge(i + 1)) + ': ' + plural(n, 'operation') }));
  const from = edge(0), to = edge(l.counts.length), room = Math.pow(to / from, 0.02);
  const range = [from / room, to * room];
  const marks = ['p50', 'p95', 'p99'].filter(p => c.figures[l.of + '-' + p]).map((p, row) => ({ x: c.figures[l.of + '-' + p][0] / scale.divide, text: p.toUpperCase(), row }));
  const lines = [{ name: nameOf(c), groupName: nameOf(c), group: 0, points }];
  return {
    about: chosenNote([c]) + plural(l.count, 'operation') + ' by ' + whatLatency(l) + ', all repetitions together.',
    charts: [{
      label: 'Distribution of latencies', height: plotHeight(), kind: 'buckets', lines, marks,
      columns: [{ head: 'From', unit: scale.unit, number: true }, { head: 'To', unit: scale.unit, number: true }, { head: 'Operations', number: true }],
      x: { label: 'latency, ' + scale.unit + ', logarithmic', log: true, range, ticks: logTicks(...range).map(v => [v, tickText(v)]) },
      y: axisOver('operations', [0, ...l.counts]),
    }],
  };
}

function timelinePlot() {
  const [c] = singleCases(c => c.timeline);
  if (!c) return { empty: 'No case in the table has a timeline.' };
  const t = c.timeline;
  const seconds = i => (i + 0.5) * t.interval;
  let group = 0;
  const charts = [['throughput', s => s.unit === 'ops/s'], ['latency', s => s.unit === 'ns']].map(([title, of]) => {
    const series = t.series.filter(of);
    if (!series.length) return null;
    const scale = scaleOf(series[0].unit, series.flatMap(s => s.values)), wide = series.some(s => s.least);
    const lines = series.map(s => ({
      name: s.label, groupName: s.label, group: group++,
      points: s.values.map((v, i) => {
        const [y, lo, hi] = ranged(s.least ? [v, s.least[i], s.greatest[i]] : [v], scale.divide);
        return { x: seconds(i), y, lo, hi, cells: [[tickText(i * t.interval), i], ...valueCells(scale, wide, y, lo, hi)], say: 'at ' + tickText(i * t.interval) + ' s ' + inWords(scale, y, lo, hi) };
      }),
    }));
    const end = t.interval * Math.max(...series.map(s => s.values.length));
    return {
      label: title + ' over the window', height: Math.round(plotHeight() * 0.62), kind: 'line', lines,
      columns: [{ head: 'Time', unit: 's', number: true }, ...valueColumns(title === 'latency' ? 'Latency' : 'Rate', scale, wide)],
      x: { label: 'seconds since the window opened', range: [0, end], ticks: niceTicks(0, end, 8).map(v => [v, tickText(v)]) },
      y: axisOver(title + ', ' + scale.unit, allOf(lines)),
    };
  }).filter(Boolean);
  const width = Math.max(...charts.map(spec => wideness(spec.y))); // so that their time axes are aligned
  for (const spec of charts) spec.y.wide = width;
  const joined = t.joined > 1 ? ' Each point joins ' + t.joined + ' intervals: the mean of their throughput, the maximum of their percentiles.' : '';
  return { about: chosenNote([c]) + (c.counted > 1 ? 'Medians of the repetitions; bands show their range.' : '') + joined, charts };
}

let drawnPlot = ''; // data and colours of the plot that is drawn
let plotPanel = null;

function renderPlots() {
  for (const radio of byId('switch').querySelectorAll('input')) radio.checked = radio.value === state.plot;
  const figures = measureFigures();
  if (figures.length && !figures.some(f => f.name === state.measure)) state.measure = figures[0].name;
  options(byId('measure'), figures.map(f => [f.name, f.label]), state.measure);
  byId('measure-choice').hidden = state.plot !== 'latency' || !figures.length;

  const plot = plots[state.plot].build();
  const now = JSON.stringify([plot, paint('--ink')]);
  if (now === drawnPlot) return;
  drawnPlot = now;
  byId('plot-about').textContent = plot.about || plot.empty;
  show(plotPanel, plot.charts || []);
}

function renderSwitch() {
  byId('switch').append(...plotNames.map(name => el('label', {}, el('input', { type: 'radio', name: 'plot', value: name }), el('span', {}, plots[name].title))));
}

// pick adds a case to the plots of single cases, or removes it. If there are too many, the
// first is removed.
function pick(id) {
  if (!caseOf(id).ok) return;
  state.picked = state.picked.includes(id) ? state.picked.filter(p => p !== id) : [...state.picked, id].slice(-mostPicked);
  choose([markRows, renderPlots]);
}
