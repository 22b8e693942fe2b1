// Formats of numbers and units. internal/result/format/testdata/figures.txt has the times, bytes,
// rates and counts that they must write.

const times = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
// Units of time in ns, as in record.TimeUnit.
const timeUnits = { ns: 1, us: 1e3, 'µs': 1e3, 'μs': 1e3, ms: 1e6, s: 1e9, sec: 1e9 };
const sizes = [[1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']];

// scaleOf returns a divisor for values in a unit, the unit of the quotients, and a function that
// writes them. The median of the values decides, and all have the same unit, so that the values
// of a column can be compared.
function scaleOf(unit, values, exact) {
  const known = values.filter(v => v > 0).sort((a, b) => a - b);
  const middle = known.length ? known[known.length >> 1] : 0;
  const [quantity, per] = [unit.split('/')[0], unit.includes('/') ? unit.slice(unit.indexOf('/')) : ''];
  let steps, factor = 1, write = time;
  const ns = timeUnits[quantity.split('-').pop()];
  if (ns) [steps, factor] = [times, ns];
  else if (quantity === 'B' && !exact) [steps, factor, write] = [sizes, 1 / 0.9995, three]; // 999,999 B are 1.00 MB
  else return { divide: 1, unit, write: exact ? number : rate };
  const [size, name] = steps.find(([size]) => middle * factor >= size) || steps[steps.length - 1];
  return { divide: steps === sizes ? size : size / factor, unit: name + per, write };
}

// time writes a number of seconds or a part of them.
function time(v) {
  const size = Math.abs(v);
  return v.toFixed(size === 0 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

const formats = []; // by number of decimals; kept, because making one is slow

function decimals(v, digits) {
  formats[digits] ||= new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return formats[digits].format(v);
}

// significant writes v with the given number of significant digits and at most most decimals. It
// writes all digits of the integer part.
function significant(v, digits, most) {
  const rounded = Math.abs(Number(v.toPrecision(digits)));
  return decimals(v, rounded === 0 ? 0 : Math.min(Math.max(digits - 1 - Math.floor(Math.log10(rounded)), 0), most));
}

function three(v) { return significant(v, 3, 3); }

// rate writes a measured value that is not a time or a size. If it is an integer, that is by
// chance.
function rate(v) { return significant(v, 4, 9); }

// number writes a number; integers with all digits.
function number(v) {
  if (v === undefined || v === null || !isFinite(v)) return '–';
  return Number.isInteger(v) ? decimals(v, 0) : rate(v);
}

// withUnit writes one value, or a range of two, in the unit that fits.
function withUnit(values, unit, exact) {
  const s = scaleOf(unit, values.map(Math.abs), exact);
  return values.map(v => s.write(v / s.divide)).join(' – ') + (s.unit ? ' ' + s.unit : '');
}

// spread returns the largest distance of a repetition from the median, in per cent of the median.
function spread([middle, least, greatest]) {
  if (least === undefined || !middle) return '';
  const share = 100 * Math.max(greatest - middle, middle - least) / Math.abs(middle);
  return '±' + (share < 9.95 ? share.toFixed(1) : share.toFixed(0)) + '%';
}

// lasting writes a duration, given in seconds, in words.
function lasting(seconds) {
  if (seconds < 1) return 'less than a second';
  if (seconds < 90) return Math.round(seconds) + ' s';
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return minutes + ' min';
  const hours = Math.floor(minutes / 60);
  return hours + ' h ' + String(minutes % 60).padStart(2, '0') + ' min';
}

function plural(n, one, many) {
  return decimals(n, 0) + ' ' + (n === 1 ? one : many || one + 's');
}

// when writes a period of time in UTC, so that all readers see the same.
function when(began, ended) {
  const text = (iso, options) => new Date(iso).toLocaleString('en-GB', { timeZone: 'UTC', ...options });
  const day = iso => text(iso, { day: 'numeric', month: 'long', year: 'numeric' });
  const hour = iso => text(iso, { hour: '2-digit', minute: '2-digit' });
  const end = (day(began) === day(ended) ? '' : day(ended) + ', ') + hour(ended);
  return day(began) + ', ' + hour(began) + ' to ' + end + ' UTC';
}
