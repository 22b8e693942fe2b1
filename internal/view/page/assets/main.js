// Events, and the start of the page.

// choose draws what a choice has changed, and writes the choice into the address.
function choose(draws, step) {
  for (const one of draws) one();
  writeAddress(step);
}

function render() {
  renderHead();
  renderAnswer();
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
  byId('when').addEventListener('click', rowClicks);
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
  addEventListener('popstate', () => {
    readAddress();
    render();
  });
  for (const query of ['(prefers-color-scheme: dark)', 'print']) {
    matchMedia(query).addEventListener('change', () => {
      renderAnswer();
      renderPlots();
    });
  }
  for (const panel of [answerPanel, plotPanel]) watch(panel);
}

data = JSON.parse(byId('data').textContent);
readAddress();
[answerPanel, plotPanel] = [panelOf('answer-'), panelOf('')];
renderSwitch();
listen();
render();
if (state.open) byId('case').scrollIntoView({ block: 'nearest' });
follow();
