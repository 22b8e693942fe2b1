// Which cases are shown, in which columns, in which order.

// inScope returns the cases of the chosen environment and workload.
function inScope() {
  return data.cases.filter(c => c.env === state.env && (!state.workload || c.workload === state.workload));
}

// fieldsOf returns a case's coordinates and status, by name.
function fieldsOf(c) {
  const fields = new Map(c.axes);
  fields.set('workload', c.workload);
  fields.set('cpus', String(c.cpus));
  if (c.workers) fields.set('workers', c.workers);
  fields.set('status', statusName(c.status));
  return fields;
}

// statusName returns a status as a word of the filter, and as the name of a class: too-large.
function statusName(status) { return status.replace(/ /g, '-'); }

// filtered returns the cases that contain every word of the query and have each key=value
// among their fields.
function filtered(cases) {
  const words = state.query.split(/\s+/).filter(Boolean);
  return cases.filter(c => {
    const fields = fieldsOf(c);
    const text = [...fields].map(([key, value]) => key + '=' + value).join(' ').toLowerCase();
    return words.every(word => {
      const at = word.indexOf('=');
      if (at > 0) return fields.get(word.slice(0, at)) === word.slice(at + 1);
      return text.includes(word.toLowerCase());
    });
  });
}

// splitAxes returns the axes that have a single value, and the keys of the others.
function splitAxes(cases) {
  const values = new Map(); // number of cases by key and value
  for (const c of cases) {
    for (const [key, value] of c.axes) {
      if (!values.has(key)) values.set(key, new Map());
      values.get(key).set(value, (values.get(key).get(value) || 0) + 1);
    }
  }
  const shared = [], varying = [];
  for (const [key, counts] of values) {
    if (counts.size === 1) shared.push([key, counts.keys().next().value]);
    else varying.push(key);
  }
  return { shared, varying };
}

// settingsOf returns the settings of a load, which have columns like the axes.
function settingsOf(cases) {
  const all = [{ key: 'cpus', head: 'CPUs', meaning: 'processors that the case may use', value: c => c.cpus }];
  if (cases.some(c => c.workers)) all.push({ key: 'workers', head: 'Workers', meaning: 'maximum number of operations in flight', value: c => (c.workers ? Number(c.workers) : undefined) });
  return all;
}

// sharedSettings returns the settings that several cases have in common. They are shown above
// the table.
function sharedSettings(cases) {
  if (cases.length < 2) return [];
  return settingsOf(cases).filter(s => cases.every(c => s.value(c) === s.value(cases[0])));
}

// whoseIs returns the name of the process that a case's figure is for; undefined if it is for none or
// if the process is not known.
function whoseIs(c, f) { return c.figures[f.name] && (c.whose || {})[f.name]; }

// ownersOf returns the processes that the table's figures of a case are for.
function ownersOf(c) {
  return [...new Set(data.figures.filter(f => f.column).map(f => whoseIs(c, f)).filter(Boolean))].join(', ');
}

// sharedOwners returns the processes that several cases have in common. They are shown above the
// table.
function sharedOwners(cases) {
  const all = cases.filter(c => Object.keys(c.figures).length).map(ownersOf);
  return all.length > 1 && all.every(o => o === all[0]) ? all[0] : '';
}

const owner = { key: 'whose', head: 'Memory and CPU of', meaning: 'the processes whose memory and processor time the row shows', value: c => ownersOf(c) || undefined };

// columnsOf returns the columns for these cases. A column has a key, head, unit and meaning, says
// whether it holds numbers and whether these are figures, and gives a case's value.
function columnsOf(cases) {
  const columns = [{ key: 'workload', head: 'Workload', meaning: 'what one operation does', value: c => c.workload }];
  for (const key of splitAxes(cases).varying) {
    const value = c => new Map(c.axes).get(key);
    const numeric = cases.every(c => value(c) === undefined || value(c) !== '' && isFinite(value(c)));
    columns.push({
      key: 'axis ' + key, head: key, meaning: 'axis of the case', number: numeric,
      value: c => (value(c) === undefined || !numeric ? value(c) : Number(value(c))), text: c => value(c),
    });
  }
  const constant = sharedSettings(cases).map(s => s.key);
  for (const s of settingsOf(cases)) {
    if (!constant.includes(s.key)) columns.push({ ...s, number: true });
  }
  for (const c of columns.slice(1)) c.axis = true;
  for (const f of data.figures) {
    const values = cases.map(c => c.figures[f.name]).filter(Boolean);
    if (!f.column || !values.length) continue;
    if (!columns.some(c => c.key === owner.key) && !sharedOwners(cases) && cases.some(c => whoseIs(c, f))) columns.push(owner);
    const scale = scaleOf(f.unit, alike(f).flatMap(g => cases.map(c => c.figures[g.name])).filter(Boolean).map(v => Math.abs(v[0])), f.exact);
    columns.push({
      key: f.name, head: f.label, unit: scale.unit === f.label ? '' : scale.unit, meaning: f.meaning, number: true, figure: true,
      value: c => c.figures[f.name] && c.figures[f.name][0],
      text: c => c.figures[f.name] && scale.write(c.figures[f.name][0] / scale.divide) + fewMark(c, f),
      spread: values.some(v => v.length > 1) && (c => (c.figures[f.name] ? spread(c.figures[f.name]) : '')),
    });
  }
  if (cases.some(c => c.runs > 1) && !cases.every(c => c.counted === cases[0].counted)) {
    columns.push({ key: 'runs', head: 'Runs', meaning: 'number of processes; figures are their medians, and ± is the largest distance of one process from the median', number: true, value: c => c.counted });
  }
  columns.push({ key: 'status', head: 'Status', meaning: 'ok, failed, partial (stopped early), refused or too large (not measured, on purpose): the worst status of the processes, and how many did not succeed if others did', value: c => c.status, status: true });
  return columns;
}

// fewMark returns the mark that follows a percentile if it rests on few operations.
function fewMark(c, f) { return (c.few || []).includes(f.name) ? ' few' : ''; }

// alike returns the columns that share a unit with f, so that rows can be compared across.
function alike(f) {
  if (f.group !== 'Latency' && f.group !== 'Stages') return [f];
  return data.figures.filter(g => g.column && g.group === f.group && g.unit === f.unit);
}

// sorted orders the cases by the chosen column. Cases without a value come last.
function sorted(cases, columns) {
  const down = state.sort.startsWith('-');
  const column = columns.find(c => c.key === state.sort.slice(down ? 1 : 0));
  if (!column) return cases;
  const order = (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true }));
  return cases.map(c => [column.value(c), c]).sort(([a], [b]) => {
    if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
    return down ? order(b, a) : order(a, b);
  }).map(([, c]) => c);
}

// shownCases returns the cases of the table's rows, in order.
function shownCases() {
  const scope = inScope();
  return sorted(filtered(scope), columnsOf(scope));
}

const varying = { data: null, keys: new Map() }; // keys by workload, over all its cases

// nameOf returns the name of a case: its workload and coordinates.
function nameOf(c) { return c.workload + ' ' + coordinates(c); }

// coordinates returns those coordinates of a case that differ among the cases of its workload.
function coordinates(c) {
  if (varying.data !== data) [varying.data, varying.keys] = [data, new Map()];
  if (!varying.keys.has(c.workload)) {
    varying.keys.set(c.workload, splitAxes(data.cases.filter(other => other.workload === c.workload)).varying);
  }
  const axes = new Map(c.axes);
  const parts = varying.keys.get(c.workload).filter(key => axes.has(key)).map(key => key + '=' + axes.get(key));
  parts.push('cpus=' + c.cpus);
  if (c.workers) parts.push('workers=' + c.workers);
  return parts.join(' ');
}
