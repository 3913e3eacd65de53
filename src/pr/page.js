// Shows only what the two lists ask for. Everything is there without it.
const form = document.querySelector('form');
if (form) {
  const rows = [...document.querySelectorAll('[data-clusters]')];
  // Numbers of clusters, in runs: `0-39 41`.
  const includes = (runs, number) => runs.split(' ').some((run) => {
    const [first, last] = run.split('-').map(Number);
    return first <= number && number <= (last ?? first);
  });
  const filter = () => {
    const cluster = form.cluster.value;
    const type = form.type?.value ?? '';
    let shown = 0;
    let all = 0;
    for (const row of rows) {
      const isShown = (!cluster || includes(row.dataset.clusters, Number(cluster)))
        && (!type || row.dataset.type === undefined || row.dataset.type === type);
      row.hidden = !isShown;
      if (row.tagName === 'DETAILS') {
        all += 1;
        shown += isShown ? 1 : 0;
      }
    }
    for (const part of document.querySelectorAll('section')) {
      part.hidden = !part.querySelector('details:not([hidden])');
    }
    form.querySelector('output').value = `${shown} of ${all} shown`;
  };
  const button = form.querySelector('button');
  const name = () => {
    const isAnyClosed = rows.some((row) => row.tagName === 'DETAILS' && !row.hidden && !row.open);
    button.textContent = isAnyClosed ? 'Open all' : 'Close all';
    return isAnyClosed;
  };
  button.addEventListener('click', () => {
    const open = name();
    for (const row of rows) if (!row.hidden) row.open = open;
    name();
  });
  document.addEventListener('toggle', name, true);
  form.addEventListener('input', () => { filter(); name(); });
  form.addEventListener('submit', (event) => event.preventDefault());
  form.hidden = false;
  filter();
  name();
}
