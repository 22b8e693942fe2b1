// What the page begins with: the sentence, which the program wrote, and the plot that the program
// chose for it.

let answerPanel = null;
let drawnAnswer = ''; // data and colours of the plot that is drawn

function renderAnswer() {
  const { sentence, case: id } = data.answer;
  byId('headline').textContent = sentence;
  const c = caseOf(id);
  const where = data.environments.length > 1 && c ? data.environments[c.env].summary + ' (environment ' + data.environments[c.env].name + ')' : data.environments.map(e => e.summary).join('');
  const parts = [where && 'On ' + where, data.began && when(data.began, data.ended)].filter(Boolean).join('; ');
  keepFocus(byId('when'), () => fill(byId('when'), c ? [el('a', { href: '#c=' + c.id, 'data-open': c.id, 'data-key': 'answer' }, nameOf(c)), c.counted > 1 ? ', median of ' + plural(c.counted, 'process', 'processes') + '. ' : '. '] : '', parts ? parts + '.' : ''));

  const plot = answerPlot();
  byId('answer').hidden = !plot;
  if (!plot) return;
  const now = JSON.stringify([plot, paint('--ink')]);
  if (now === drawnAnswer) return;
  drawnAnswer = now;
  byId('answer-title').textContent = plot.title;
  byId('answer-about').textContent = plot.about;
  fill(byId('answer-bars'), (plot.bars || []).map(bar => barOf(bar, plot)));
  show(answerPanel, plot.charts || []);
  answerPanel.key.hidden = answerPanel.key.children.length < 2;
}

// answerPlot returns {title, about, charts or bars}, or null if there is no plot.
function answerPlot() {
  const plot = data.answer.plot;
  if (!plot) return null;
  const c = caseOf(data.answer.case);
  if (plot.kind === 'percentiles') return c.latency ? { title: 'Latency by percentile', ...percentilesOf([c], '') } : null;
  if (plot.kind === 'stages') return stageBars(c);
  const figure = data.figures.find(f => f.name === plot.figure);
  return plot.kind === 'cases' ? caseBars(plot, figure, c) : linePlot(plot, figure);
}

// figureName returns the name of a figure in a title.
function figureName(f) {
  return f.group === 'Stages' ? 'Time of the stage ' + f.label : /^(latency|response)-/.test(f.name) ? 'Time of one operation (' + f.label + ')' : f.label;
}

function linePlot(plot, figure) {
  const byCPUs = plot.kind === 'cpus';
  const ids = new Set(plot.lines.flatMap(l => l.cases));
  const cases = data.cases.filter(c => ids.has(c.id));
  const found = named(plot.lines, cases);
  grouped(found);
  const scale = scaleOf(figure.unit, cases.map(c => c.figures[figure.name][0]), figure.exact), wide = haveRange(cases);
  const at = c => (byCPUs ? c.cpus : Number(new Map(c.axes).get(plot.key)));
  const head = byCPUs ? 'CPUs' : plot.key;
  const lines = found.lines.map(l => ({
    name: l.name, group: l.group, groupName: l.groupName,
    points: (byCPUs && figure.name === 'throughput' ? fastest(l.cases) : l.cases).toSorted((a, b) => at(a) - at(b)).map(c => {
      const [y, lo, hi] = ranged(c.figures[figure.name], scale.divide);
      return { x: at(c), y, lo, hi, cells: [[number(at(c)), at(c)], ...valueCells(scale, wide, y, lo, hi)], say: head + ' ' + number(at(c)) + ', ' + inWords(scale, y, lo, hi) };
    }),
  }));
  const title = figureName(figure) + ' by ' + head;
  return {
    title,
    about: (lines.length > 1 ? 'The case of the sentence, and cases that differ from it in one value.' : 'The case of the sentence at ' + (byCPUs ? 'several numbers of CPUs.' : 'several values of ' + plot.key + '.')) + spreadNote(cases),
    charts: [{
      label: title, height: plotHeight(), kind: 'points', joined: true, lines,
      x: valueAxis(head, cases.map(at)), y: axisOver(figure.label + ', ' + scale.unit, allOf(lines)),
      columns: [{ head, number: true }, ...valueColumns(figure.label, scale, wide)],
    }],
  };
}

function caseBars(plot, figure, own) {
  const cases = plot.lines[0].cases.map(caseOf);
  const scale = scaleOf(figure.unit, cases.map(c => c.figures[figure.name][0]), figure.exact);
  const bars = cases.map(c => {
    const [y, lo, hi] = ranged(c.figures[figure.name], scale.divide);
    return { name: differences(c, own), y, hi: hi === undefined ? y : hi, lo, text: inWords(scale, y), own: c === own };
  });
  return { title: figureName(figure), about: 'The case of the sentence, and cases that differ from it in one value.' + (cases.some(c => c.counted > 1) ? ' Thin lines show the range of the repetitions.' : ''), bars };
}

// differences names a case by what it has in place of the other's values.
function differences(c, own) {
  if (c === own) return 'this case';
  const other = new Map(own.axes);
  return c.axes.filter(([key, value]) => other.get(key) !== value).map(([key, value]) => key + '=' + value).join(' ') || nameOf(c);
}

function stageBars(c) {
  const scale = scaleOf('ns', c.stages.map(s => s.time));
  const bars = c.stages.map(s => ({ name: s.name, y: s.time / scale.divide, hi: s.time / scale.divide, text: inWords(scale, s.time / scale.divide) }));
  return { title: 'Time of each stage', about: c.counted > 1 ? 'Medians of the repetitions.' : '', bars };
}

// barOf returns a name, a bar and its value.
function barOf(bar, plot) {
  const most = Math.max(...plot.bars.map(b => b.hi), 0) || 1, share = v => 100 * v / most + '%';
  const drawing = svg('svg', { class: 'bar', 'aria-hidden': 'true' }, svg('rect', { x: 0, y: 3, height: 12, width: share(bar.y), class: bar.own ? 'own' : '' }));
  if (bar.lo !== undefined) drawing.append(svg('line', { x1: share(bar.lo), x2: share(bar.hi), y1: 9, y2: 9 }));
  return el('li', {}, el('span', { class: bar.own && 'own' }, bar.name), drawing, el('b', {}, bar.text));
}
