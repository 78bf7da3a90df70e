// Saves a chart as SVG or PNG, as on white paper, and its data as CSV. The browser makes the files, without any request.
const savedWidth = 1200;

function save(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

const fileName = (chart, ending) => `${page.file}-${chart.id}${chart.choose ? `-${chart.choose}-${chosen[chart.choose] + (chart.choose === 'step' ? 1 : 0)}` : ''}.${ending}`;

// onPaper calls f with the colors of the light page.
function onPaper(f) {
  const root = document.documentElement, before = root.dataset.theme;
  root.dataset.theme = 'light';
  try {
    return f();
  } finally {
    if (before === undefined) delete root.dataset.theme; else root.dataset.theme = before;
  }
}

// portrait draws the chart with a title, for f.
function portrait(chart, f, place, options) {
  onPaper(() => {
    const option = dress(chart, savedWidth);
    option.backgroundColor = css('--paper');
    option.title = { text: plain(chart.title), left: 12, top: 10, textStyle: { color: css('--ink'), fontSize: 18 } };
    option.grid[0].top = Number(option.grid[0].top) + 48;
    const drawn = echarts.init(place, null, { ...options, width: savedWidth, height: 608 });
    try {
      drawn.setOption(option);
      nameLines(chart, drawn);
      f(drawn);
    } finally {
      drawn.dispose();
    }
  });
}

const saveSVG = (chart) => portrait(chart, (drawn) => save(fileName(chart, 'svg'), 'image/svg+xml', drawn.renderToSVGString()), null, { renderer: 'svg', ssr: true });

const savePNG = (chart) => portrait(chart, (drawn) => {
  const bytes = atob(drawn.getDataURL({ type: 'png', pixelRatio: 2 }).split(',')[1]);
  save(fileName(chart, 'png'), 'image/png', Uint8Array.from(bytes, (c) => c.charCodeAt(0)));
}, document.createElement('div'), { renderer: 'canvas' });

// field escapes a value; text that a spreadsheet would take for a formula gets an apostrophe.
function field(v) {
  if (v === null || v === undefined) return '';
  if (typeof v === 'number') return String(v);
  const s = /^[=+\-@\t\r]/.test(v) && v !== '-' ? `'${v}` : v;
  return /[",\n\r]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s;
}
const csv = (rows) => rows.map((r) => r.map(field).join(',')).join('\r\n') + '\r\n';

// csvOf returns the data of all contenders, shown or not; an empty field was not measured.
function csvOf(chart) {
  const x = chart.option.xAxis[0].name || 'x';
  const rows = [['contender', 'round', ...(chart.choose === 'step' ? ['step'] : []), x, chart.title, 'low', 'high']];
  chart.lines.forEach((l, i) => chart.option.series[i].data.forEach(([at, y, low, high]) => {
    if (at === null) return; // a gap
    const label = chart.ticks?.find((t) => t.at === at)?.text;
    rows.push([chart.bars ? l.name : page.contenders[l.c] ?? l.name, l.r ?? 'all', ...(chart.choose === 'step' ? [page.steps[l.step ?? 0]] : []), label ?? at, y, low, high]);
  }));
  return csv(rows);
}

const savers = { SVG: saveSVG, PNG: savePNG, CSV: (chart) => save(fileName(chart, 'csv'), 'text/csv;charset=utf-8', csvOf(chart)) };

function saveButtons(chart) {
  return Object.entries(savers).map(([kind, f]) => {
    const button = element('button', { type: 'button', 'data-save': kind, 'aria-label': `Save ${chart.title} as ${kind}` }, kind);
    button.addEventListener('click', () => f(chart));
    return button;
  });
}
