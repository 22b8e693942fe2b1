// A suite that is running: its progress, and its data, which is loaded every two seconds.

const pollEvery = 2000; // ms

let shown = ''; // the data's text

function runs() { return data.progress && !data.progress.stopped; }

function renderProgress() {
  const p = data.progress;
  byId('progress').hidden = !p;
  document.title = (runs() ? p.done + '/' + p.planned + ' · ' : '') + data.title;
  if (!p) return;
  const parts = [p.done + ' of ' + plural(p.planned, 'process', 'processes')];
  if (p.failed) parts.push(p.failed + ' failed');
  if (p.refused) parts.push(p.refused + ' refused');
  if (p.stopped) parts.push('stopped before its end');
  else {
    if (p.left > 0) parts.push('about ' + lasting(p.left) + ' left');
    if (p.running) parts.push('running ' + p.running);
  }
  byId('progress-text').textContent = parts.join(', ');
  const bar = byId('progress-bar');
  bar.max = Math.max(p.planned, 1);
  bar.value = p.done;
}

// follow loads the data until the suite has ended. It does not while the page is hidden,
// because the machine is being measured.
function follow() {
  if (!('served' in byId('data').dataset) || !runs()) return;
  setTimeout(async () => {
    if (!document.hidden) await ask();
    follow();
  }, pollEvery);
}

async function ask() {
  const lost = byId('lost');
  try {
    const answer = await fetch('data.json', { cache: 'no-store' });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text.trim());
    if (text !== shown) {
      data = JSON.parse(text);
      shown = text;
      render();
    }
    lost.textContent = '';
  } catch (err) {
    lost.textContent = 'The connection to the suite is lost; this page keeps trying: ' + err.message;
  }
}
