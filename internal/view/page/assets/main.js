// Events, and the start of the page.

// choose draws what a choice has changed, and writes the choice into the address.
function choose(draws, step) {
  for (const one of draws) one();
  writeAddress(step);
}

function render() {
  renderHead();
  renderProgress();
  renderEnvironments();
  renderFindings();
  renderChoices();
  renderTable();
  renderCase();
  renderPlots();
}

function listen() {
  byId('tools').addEventListener('submit', event => event.preventDefault());
  byId('query').addEventListener('input', event => {
    state.query = event.target.value;
    choose([renderTable, renderPlots]);
  });
  byId('workload').addEventListener('change', event => {
    state.workload = event.target.value;
    choose([renderTable, renderPlots]);
  });
  byId('environment').addEventListener('change', event => {
    state.env = Number(event.target.value);
    choose([renderChoices, renderTable, renderPlots]);
  });
  byId('thead').addEventListener('click', sortClicks);
  byId('tbody').addEventListener('click', rowClicks);
  byId('tbody').addEventListener('keydown', rowKeys);
  byId('findings').addEventListener('click', rowClicks);
  byId('case').addEventListener('click', caseClicks);
  byId('case').addEventListener('keydown', event => {
    if (event.key === 'Escape') closeCase();
  });
  byId('switch').addEventListener('change', event => {
    state.plot = event.target.value;
    choose([renderPlots]);
  });
  byId('measure').addEventListener('change', event => {
    state.measure = event.target.value;
    choose([renderPlots]);
  });
  byId('values').addEventListener('toggle', () => renderValues(plots[state.plot].build().charts || []));
  addEventListener('popstate', () => {
    readAddress();
    render();
  });
  for (const query of ['(prefers-color-scheme: dark)', 'print']) matchMedia(query).addEventListener('change', renderPlots);
  new ResizeObserver(() => {
    for (const { u, box } of charts) {
      if (box.clientWidth && box.clientWidth !== u.width) u.setSize({ width: box.clientWidth, height: u.height });
    }
  }).observe(byId('charts'));
}

data = JSON.parse(byId('data').textContent);
readAddress();
renderSwitch();
listen();
render();
if (state.open) byId('case').scrollIntoView({ block: 'nearest' });
follow();
