// Shows only what the lists ask for, and tells the time of whoever reads. Everything else is there without it.
const all = (query, of = document) => [...of.querySelectorAll(query)];
// Numbers of clusters, in runs: `0-39 41`; `none` is no number and so in none of them.
const runs = (text) => text.split(' ').map((run) => {
  const [first, last] = run.split('-').map(Number);
  return [first, last ?? first];
});
// The runs that two lists of runs have in common.
const common = (some, others) => some.flatMap(([first, last]) => others
  .map(([from, to]) => [Math.max(first, from), Math.min(last, to)])
  .filter(([from, to]) => from <= to));
const form = document.querySelector('form');
const rows = all('[data-clusters]').map((row) => ({
  row,
  clusters: runs(row.dataset.clusters),
  isCounted: row.matches('details, article'),
}));

const filter = () => {
  const lists = ['cluster', 'label'].map((name) => form[name]?.value).filter(Boolean).map(runs);
  const type = form.type?.value ?? '';
  const isOpenOnly = form.open?.checked;
  let shown = 0;
  for (const { row, clusters, isCounted } of rows) {
    const isShown = lists.reduce(common, clusters).length + (lists.length ? 0 : 1) > 0
      && (!type || row.dataset.type === undefined || row.dataset.type === type)
      && (!isOpenOnly || row.dataset.times === undefined || row.classList.contains('is-open'));
    row.hidden = !isShown;
    if (isCounted && isShown) shown += 1;
  }
  for (const part of all('section')) {
    part.hidden = !part.querySelector('details:not([hidden]), article:not([hidden])');
  }
  form.querySelector('output').value = `${shown} of ${rows.filter((one) => one.isCounted).length} shown`;
};

// Says of each row whether it is open now, and draws the line of now.
const [from, to] = (document.body.querySelector('[data-range]')?.dataset.range ?? '').split(' ').map(Number);
const told = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit',
});
const show = (date) => {
  const part = Object.fromEntries(told.formatToParts(date).map(({ type, value }) => [type, value]));
  return `${part.weekday} ${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}`;
};
const tick = () => {
  const now = Number(document.body.dataset.now) || Date.now() / 1000;
  const isShown = from <= now && now < to;
  const counts = all('section[data-range]').map((section) => {
    let [open, number] = [0, 0];
    for (const row of all('[data-times]', section)) {
      const times = row.dataset.times.split(' ').filter(Boolean).map((time) => time.split('/').map(Number));
      const current = times.find(([begin, end]) => begin <= now && now < end);
      const next = times.find(([begin]) => begin > now);
      const isOff = row.dataset.off !== undefined;
      const clusters = runs(row.dataset.clusters).reduce((sum, [first, last]) => sum + last - first + 1, 0);
      const isOpen = isOff || Boolean(current);
      row.classList.toggle('is-open', isShown && isOpen);
      number += clusters;
      if (isOpen) open += clusters;
      const until = current ? current[1] : next?.[0];
      const when = until && until < to ? ` until ${show(new Date(until * 1000))}` : '';
      const told = isOff ? 'open now: the gate is off' : `${current ? 'open' : 'closed'} now${when}`;
      row.querySelector('.state').textContent = isShown ? told : '';
    }
    return `${section.dataset.name} in ${open} of ${number} clusters`;
  });
  document.getElementById('now').textContent = isShown ? `Open now: ${counts.join(', ')}` : 'Now lies outside of these days';
  for (const line of all('.now')) {
    line.hidden = !isShown;
    line.style.left = `${100 * (now - from) / (to - from)}%`;
  }
};
if (document.querySelector('[data-times]')) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  // Of many rows few are opened, and their times are told only then.
  document.addEventListener('toggle', ({ target }) => {
    for (const head of all('.zone', target)) head.textContent = `Your time (${zone})`;
    for (const time of all('time[datetime]', target)) time.textContent = show(new Date(time.dateTime));
  }, true);
  tick();
  setInterval(() => { tick(); if (form?.open?.checked) filter(); }, 30_000);
}

if (form) {
  const button = form.querySelector('button');
  const parts = () => all('details').filter((part) => !part.closest('[hidden]'));
  const name = () => {
    const isAnyClosed = parts().some((part) => !part.open);
    button.textContent = isAnyClosed ? 'Open all' : 'Close all';
    return isAnyClosed;
  };
  button.addEventListener('click', () => {
    const open = name();
    for (const part of parts()) part.open = open;
    name();
  });
  document.addEventListener('toggle', name, true);
  form.addEventListener('input', () => { filter(); name(); });
  form.addEventListener('submit', (event) => event.preventDefault());
  form.hidden = false;
  filter();
  name();
}
