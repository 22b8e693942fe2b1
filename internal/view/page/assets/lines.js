// The lines of plots: which are shown, their names and colours.

const fewLines = 8; // maximum number of lines that can be distinguished

// plottedCases returns the table's cases that have the figure from processes that succeeded.
function plottedCases(figure) { return filtered(inScope()).filter(c => c.figures[figure] && c.ok); }

// linesOf returns the lines of a kind, as the program made them, with only the given cases.
// Lines are named by the fields in which they differ.
function linesOf(kind, cases) { return named(data.lines[kind], cases); }

function named(all, cases) {
  const shown = new Map(cases.map(c => [c.id, c]));
  const lines = all.map(l => ({ fields: new Map(l.fields), size: l.cases.length, cases: l.cases.map(id => shown.get(id)).filter(Boolean) })).filter(l => l.cases.length);
  const varying = [...new Set(lines.flatMap(l => [...l.fields.keys()]))].filter(key => new Set(lines.map(l => l.fields.get(key))).size > 1);
  for (const l of lines) l.name = varying.filter(key => l.fields.has(key)).map(key => (key === 'workload' ? '' : key + '=') + l.fields.get(key)).join(' ') || l.cases[0].workload;
  return { lines, varying };
}

// grouped gives every line a colour. If there are too many lines, those with the same value of
// one field share a colour: the executor or, if it does not differ, the field with the most
// values.
function grouped({ lines, varying }) {
  let key = null;
  if (lines.length > fewLines) {
    const count = k => new Set(lines.map(l => l.fields.get(k))).size;
    const fit = varying.filter(k => count(k) <= fewLines).sort((a, b) => count(b) - count(a));
    key = fit.includes('exec') ? 'exec' : fit[0] || '';
  }
  const names = [];
  for (const l of lines) {
    const value = key && l.fields.get(key);
    l.groupName = key === null ? l.name : key === '' ? 'all cases' : key === 'workload' ? value : key + '=' + (value || 'none');
    if (!names.includes(l.groupName)) names.push(l.groupName);
    l.group = names.indexOf(l.groupName);
  }
  return key;
}
