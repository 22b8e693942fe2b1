// One chart. uPlot scales it and draws axes and grid; lines, their bands and error
// bars, points and buckets are drawn here, since lines may turn back and points have
// spreads both ways.
//
// A chart is plain data:
//   label    what it shows, for screen readers
//   height   px
//   title    above the chart; may be missing
//   columns  of the table of values, as dataTable has them; cells of a point are its row
//   x, y     {label, log, range: [from, to], ticks: [[value, text], ...]}; for y also wide,
//            the length of the longest text
//   kind     line, points (joined where joined is set) or buckets; a line may have its own
//   lines    {name, group, points: [{x, y, lo, hi, xlo, xhi, to, name, say}]}; group
//            decides colour and dashes, name is drawn beside the point, say describes it
//            in words, to is the end of a bucket, cells are its row in the table of values
//   marks    [{x, text}], vertical lines

const colours = 8;
const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3], [12, 4], [4, 2], [6, 2, 2, 2, 2, 2], [14, 3, 3, 3]];
const chartFont = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

function plotHeight() { return innerWidth < 640 ? 280 : 380; }

// A panel is a place for charts: the elements charts, key (for colours and dashes), reading (of the
// pointer) and values (details with the table). drawn has the charts that are drawn.
function panelOf(name) {
  const part = of => byId(name + of);
  return { charts: part('charts'), key: part('key'), reading: part('reading'), values: part('values'), drawn: [], specs: [] };
}

// show draws charts in a panel, in place of those that it had.
function show(panel, specs) {
  panel.drawn.forEach(({ u }) => u.destroy());
  Object.assign(panel, { drawn: [], specs });
  panel.reading.textContent = '';
  panel.values.hidden = !specs.length;
  fill(panel.key, keyOf(specs));
  fill(panel.charts);
  for (const spec of specs) {
    const box = el('div', {});
    if (spec.title) panel.charts.append(el('h3', {}, spec.title));
    panel.charts.append(el('div', { class: 'chart', role: 'img', 'aria-label': spec.label + '. Its values follow as a table.' }, box));
    draw(panel, box, spec);
  }
  showValues(panel);
}

// watch has the charts of a panel follow its width, and the table of values its details.
function watch(panel) {
  panel.values.addEventListener('toggle', () => showValues(panel));
  new ResizeObserver(() => {
    for (const { u, box } of panel.drawn) {
      if (box.clientWidth && box.clientWidth !== u.width) u.setSize({ width: box.clientWidth, height: u.height });
    }
  }).observe(panel.charts);
}

// keyOf returns the legend of colours and dashes.
function keyOf(specs) {
  const names = new Map();
  for (const spec of specs) {
    for (const l of spec.lines) names.set(l.groupName, [l.group, l.kind || spec.kind]);
  }
  return [...names].map(([name, [group, kind]]) => el('li', {}, swatch(group, kind), el('bdi', {}, name)));
}

function swatch(group, kind) {
  const drawing = byId('swatch').content.firstElementChild.cloneNode(true);
  const line = drawing.firstElementChild;
  if (kind === 'buckets') line.setAttribute('stroke-width', '10');
  else line.setAttribute('stroke-dasharray', dashes[group % dashes.length].join(' ') || 'none');
  line.style.stroke = 'var(' + colourOf(group) + ')';
  return drawing;
}

const mostValues = 2000; // rows

// showValues writes the points of a panel's charts as a table. It does so only when the table is
// open, because the table is long.
function showValues(panel) {
  const box = panel.values.querySelector('.scroll');
  if (panel.specs.some(spec => !spec.columns)) return; // the page has the table already
  fill(box);
  if (!panel.values.open || !panel.specs.length) return;
  for (const spec of panel.specs) {
    const rows = spec.lines.flatMap(l => l.points.filter(p => p.cells).map(p => [l.name, ...p.cells]));
    if (spec.title) box.append(el('h3', {}, spec.title));
    box.append(dataTable([{ head: 'Line', wide: true }, ...spec.columns], rows.slice(0, mostValues)));
  }
}

function paint(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

function colourOf(group) { return '--plot-' + (group % colours + 1); }

// draw draws a chart of a panel in box.
function draw(panel, box, spec) {
  const xs = [], ys = [];
  for (const p of spec.lines.flatMap(l => l.points).sort((a, b) => a.x - b.x)) {
    xs.push(p.x);
    ys.push(p.y);
  }
  const axis = (scale, of) => ({
    scale, stroke: paint('--muted'), font: chartFont, label: of.label, labelFont: chartFont, labelSize: 22, labelGap: 2, gap: 6,
    grid: { stroke: paint('--grid'), width: 1 }, ticks: { stroke: paint('--grid'), width: 1, size: 5 },
    splits: () => of.ticks.map(([at]) => at), filter: (u, at) => at, values: (u, at) => thinned(u, scale, of, at),
    size: scale === 'x' ? 34 : 20 + 7 * (of.wide || wideness(of)),
  });
  const scale = of => ({ time: false, distr: of.log ? 3 : 1, log: 10, range: () => of.range });
  const u = new uPlot({
    width: Math.max(box.clientWidth, 200), height: spec.height, padding: [10, 16, 0, 0],
    legend: { show: false }, select: { show: false },
    cursor: { points: { show: false }, drag: { x: false, y: false, setScale: false }, y: spec.kind === 'points' },
    scales: { x: scale(spec.x), y: scale(spec.y) },
    axes: [axis('x', spec.x), axis('y', spec.y)],
    series: [{}, { paths: () => null, points: { show: false } }],
    hooks: { draw: [u => drawLines(u, spec)] },
  }, [xs, ys], box);
  u.over.addEventListener('pointermove', event => read(panel, u, spec, event));
  u.over.addEventListener('pointerleave', () => { panel.reading.textContent = ''; });
  panel.drawn.push({ u, box });
}

// wideness returns the length of an axis's longest text.
function wideness(of) { return Math.max(1, ...of.ticks.map(([, text]) => text.length)); }

// thinned leaves out texts that would overlap.
function thinned(u, scale, of, at) {
  let end = -Infinity;
  return at.map((v, i) => {
    const text = of.ticks[i] ? of.ticks[i][1] : '';
    if (scale === 'y') return text;
    const middle = u.valToPos(v, scale), half = text.length * 3.3 + 5;
    if (middle - half < end) return '';
    end = middle + half;
    return text;
  });
}

function drawLines(u, spec) {
  const ctx = u.ctx, ratio = devicePixelRatio;
  const x = v => u.valToPos(v, 'x', true), y = v => u.valToPos(v, 'y', true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(u.bbox.left, u.bbox.top - 6 * ratio, u.bbox.width + 8 * ratio, u.bbox.height + 6 * ratio);
  ctx.clip();
  for (const m of spec.marks || []) drawMark(u, ctx, ratio, m);
  for (const l of spec.lines) {
    ctx.strokeStyle = ctx.fillStyle = paint(colourOf(l.group));
    ctx.lineWidth = 2 * ratio;
    ctx.lineJoin = 'round';
    const kind = l.kind || spec.kind;
    if (kind === 'buckets') drawBuckets(ctx, l, x, y, ratio);
    else {
      if (kind === 'line') drawBand(ctx, l, x, y);
      if (kind === 'line' || spec.joined) drawPath(ctx, l, x, y, ratio);
      if (kind === 'points') drawPoints(ctx, l, x, y, ratio);
      else if (l.points.length === 1) drawPoints(ctx, l, x, y, ratio);
    }
  }
  if (spec.kind === 'points') drawNames(u, ctx, spec, x, y, ratio);
  ctx.restore();
}

function drawMark(u, ctx, ratio, m) {
  const at = u.valToPos(m.x, 'x', true);
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = paint('--muted');
  ctx.lineWidth = ratio;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  ctx.beginPath();
  ctx.moveTo(at, u.bbox.top);
  ctx.lineTo(at, u.bbox.top + u.bbox.height);
  ctx.stroke();
  ctx.font = Math.round(12 * ratio) + 'px system-ui, sans-serif';
  const beyond = at + 4 * ratio + ctx.measureText(m.text).width > u.bbox.left + u.bbox.width;
  ctx.textAlign = beyond ? 'right' : 'left';
  ctx.textBaseline = 'top';
  ctx.fillText(m.text, at + (beyond ? -4 : 4) * ratio, u.bbox.top + (m.row || 0) * 15 * ratio);
  ctx.restore();
}

function drawPath(ctx, l, x, y, ratio) {
  ctx.setLineDash(dashes[l.group % dashes.length].map(d => d * ratio));
  ctx.beginPath();
  l.points.forEach((p, i) => (i ? ctx.lineTo(x(p.x), y(p.y)) : ctx.moveTo(x(p.x), y(p.y))));
  ctx.stroke();
  ctx.setLineDash([]);
}

function drawBand(ctx, l, x, y) {
  const points = l.points.filter(p => p.lo !== undefined);
  if (!points.length) return;
  ctx.save();
  ctx.globalAlpha = 0.18;
  ctx.beginPath();
  points.forEach((p, i) => (i ? ctx.lineTo(x(p.x), y(p.hi)) : ctx.moveTo(x(p.x), y(p.hi))));
  [...points].reverse().forEach(p => ctx.lineTo(x(p.x), y(p.lo)));
  ctx.closePath();
  ctx.fill();
  ctx.restore();
}

function drawPoints(ctx, l, x, y, ratio) {
  const r = 4 * ratio, bar = 3 * ratio;
  ctx.lineWidth = 1.25 * ratio;
  for (const p of l.points) {
    const px = x(p.x), py = y(p.y);
    ctx.beginPath();
    if (p.lo !== undefined) {
      ctx.moveTo(px, y(p.lo));
      ctx.lineTo(px, y(p.hi));
      for (const v of [p.lo, p.hi]) {
        ctx.moveTo(px - bar, y(v));
        ctx.lineTo(px + bar, y(v));
      }
    }
    if (p.xlo !== undefined) {
      ctx.moveTo(x(p.xlo), py);
      ctx.lineTo(x(p.xhi), py);
    }
    ctx.stroke();
    ctx.beginPath();
    shape(ctx, l.group % 4, px, py, r);
    ctx.fill();
  }
}

// drawNames writes the names of points beside them, and leaves out names that would overlap.
function drawNames(u, ctx, spec, x, y, ratio) {
  const height = 12 * ratio, gap = 6 * ratio, right = u.bbox.left + u.bbox.width;
  const taken = [];
  ctx.font = Math.round(12 * ratio) + 'px system-ui, sans-serif';
  ctx.fillStyle = paint('--muted');
  ctx.textAlign = 'left';
  ctx.textBaseline = 'bottom';
  for (const p of spec.lines.flatMap(l => l.points).filter(p => p.name)) {
    const width = ctx.measureText(p.name).width;
    const left = x(p.x) + gap + width > right ? x(p.x) - gap - width : x(p.x) + gap;
    const bottom = Math.max(y(p.y) - gap / 2, u.bbox.top + height);
    if (taken.some(t => Math.abs(t.bottom - bottom) < height && left < t.left + t.width && t.left < left + width)) continue;
    taken.push({ left, bottom, width });
    ctx.fillText(p.name, left, bottom);
  }
}

// shape draws a circle, a square, a triangle or a diamond.
function shape(ctx, which, x, y, r) {
  if (which === 0) return ctx.arc(x, y, r, 0, 2 * Math.PI);
  if (which === 1) return ctx.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
  const corners = which === 2 ? [[0, -1.2], [1.1, 0.9], [-1.1, 0.9]] : [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]];
  corners.forEach(([dx, dy], i) => (i ? ctx.lineTo(x + dx * r, y + dy * r) : ctx.moveTo(x + dx * r, y + dy * r)));
  ctx.closePath();
}

function drawBuckets(ctx, l, x, y, ratio) {
  for (const p of l.points) {
    const left = x(p.x), right = x(p.to), top = y(p.y), bottom = y(0);
    const gap = right - left > 4 * ratio ? ratio : 0;
    ctx.fillRect(left, top, Math.max(right - left - gap, 1), bottom - top);
  }
}

// read describes in words the point nearest to the pointer.
function read(panel, u, spec, event) {
  const box = u.over.getBoundingClientRect();
  const x = event.clientX - box.left, y = event.clientY - box.top;
  let best = null, least = Infinity;
  for (const l of spec.lines) {
    for (const p of l.points) {
      const px = u.valToPos(p.to === undefined ? p.x : Math.sqrt(p.x * p.to), 'x'), py = u.valToPos(p.y, 'y');
      const far = Math.hypot(px - x, spec.kind === 'buckets' ? 0 : py - y);
      if (far < least) [least, best] = [far, l.name + ': ' + p.say];
    }
  }
  panel.reading.textContent = best || '';
}

// niceTicks returns about n round values within a range.
function niceTicks(from, to, n) {
  const rough = (to - from) / n, size = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map(m => m * size).find(s => s >= rough);
  const all = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to * (1 + 1e-9); i++) all.push(i * step);
  return all;
}

function logTicks(from, to) {
  if (to / from < 8) return niceTicks(from, to, 10).filter(v => v > 0);
  const all = [], steps = to / from > 2000 ? [1] : [1, 2, 5];
  for (let e = Math.floor(Math.log10(from)); e <= Math.log10(to); e++) {
    for (const s of steps) {
      const v = s * Math.pow(10, e);
      if (v >= from * 0.999 && v <= to * 1.001) all.push(v);
    }
  }
  return all;
}

function tickText(v) { return Number(v.toPrecision(6)).toLocaleString('en-US', { maximumFractionDigits: 9 }); }

// axisOver returns an axis for the values: from zero, or logarithmic if their sizes differ
// much.
function axisOver(label, values) {
  const positive = values.filter(v => v > 0);
  const most = Math.max(...positive, 0) || 1, least = positive.length ? Math.min(...positive) : 1;
  const log = positive.length === values.length && most / least > 40;
  const range = log ? [least / 1.25, most * 1.25] : [0, most * 1.07];
  const ticks = log ? logTicks(...range) : niceTicks(...range, 5);
  return { label: label + (log ? ', logarithmic' : ''), log, range, ticks: ticks.map(v => [v, tickText(v)]) };
}
