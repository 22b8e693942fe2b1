// The charts of a history, and its tables.

// specOf returns the chart of a line: its points with their ranges, the level between steps, and steps.
function specOf(line) {
  const last = line.dates.length;
  const lines = line.lines.map((l, group) => ({
    name: l.name, groupName: l.name, group, kind: l.reference ? 'line' : undefined,
    points: l.points.map(([x, y, lo, hi], i) => ({ x, y, lo, hi, say: l.reference ? String(y) : line.says[i] })),
  }));
  return {
    label: 'Chart of ' + line.y, height: Math.round(plotHeight() * 0.8), kind: 'points', joined: true, lines,
    marks: line.marks.map((m, row) => ({ ...m, row })),
    x: { label: 'session', range: [0.5, last + 0.5], ticks: line.dates.map((date, i) => [i + 1, date]) },
    y: axisOver(line.y, lines.flatMap(l => l.points.flatMap(p => [p.y, p.lo, p.hi])).filter(v => v !== undefined)),
  };
}

const history = JSON.parse(byId('data').textContent);
const panels = history.map(line => panelOf(line.id));

function render() { history.forEach((line, i) => show(panels[i], [specOf(line)])); }

for (const table of document.querySelectorAll('table')) sortable(table);
render();
panels.forEach(watch);
for (const query of ['(prefers-color-scheme: dark)', 'print']) matchMedia(query).addEventListener('change', render);
