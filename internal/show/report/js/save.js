// Saves a chart as SVG or PNG, as on white paper, and its data as CSV. The browser makes the files, without any request.
const savedWidth = 1200;

function save(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

const fileName = (chart, ending) => {
  const c = choice[chart.kind];
  const of = !c ? '' : chart.kind === 'heat' ? `-${(page.contenders[c.contender].match(/[A-Za-z0-9-]+/g) ?? []).join('-').slice(0, 40)}`
    : `${c.round ? `-round-${c.round}` : ''}${c.step >= 0 ? `-step-${c.step + 1}` : ''}`;
  return `${page.file}-${chart.id}${of}.${ending}`;
};

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

// portrait returns the chart with a title and, if it has lines, a legend.
function portrait(chart) {
  return onPaper(() => {
    const option = dress(chart, savedWidth);
    option.backgroundColor = css('--paper');
    option.title = { text: plain(chart.title), left: 12, top: 10, textStyle: { color: css('--ink'), fontSize: 18 } };
    let top = 48;
    const list = page.contenders.filter((_, c) => shown.has(c));
    if (chart.kind === 'stack') {
      option.legend.top = top;
      top += 28;
    } else if (chart.kind !== 'bars' && chart.kind !== 'heat') {
      const rows = Math.ceil(list.join('    ').length * 8 / savedWidth) + (list.length > 8 ? 1 : 0);
      option.series.forEach((s) => { // all lines of a contender have one entry
        const w = chart.series.find((x) => x.name === s.name);
        if (w?.role === 'trial') s.name = page.contenders[w.c];
      });
      option.legend = { show: true, top, left: 12, right: 12, data: list, itemWidth: 34, textStyle: { color: css('--ink') } };
      top += 26 * Math.max(1, rows);
    }
    const height = (heightOf(chart) ?? (chart.kind === 'time' ? 960 : 560)) + top;
    for (const g of option.grid) g.top = Number(g.top ?? 0) + top;
    return { option, height };
  });
}

function saveSVG(chart) {
  const { option, height } = portrait(chart);
  const drawn = echarts.init(null, null, { renderer: 'svg', ssr: true, width: savedWidth, height });
  try {
    drawn.setOption(option);
    save(fileName(chart, 'svg'), 'image/svg+xml', drawn.renderToSVGString());
  } finally {
    drawn.dispose();
  }
}

function savePNG(chart) {
  const { option, height } = portrait(chart);
  const drawn = echarts.init(document.createElement('div'), null, { renderer: 'canvas', width: savedWidth, height });
  try {
    drawn.setOption(option);
    const bytes = atob(drawn.getDataURL({ type: 'png', pixelRatio: 2 }).split(',')[1]);
    save(fileName(chart, 'png'), 'image/png', Uint8Array.from(bytes, (c) => c.charCodeAt(0)));
  } finally {
    drawn.dispose();
  }
}

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
  const number = (v) => v === '-' || v === undefined || v === null ? null : v;
  const rows = [];
  switch (chart.kind) {
    case 'percentiles':
      rows.push(['contender', 'step', 'responses', 'percentile', 'latency_ms']);
      for (const d of page.latencies) d.curve.forEach((y, i) => rows.push([page.contenders[d.c], page.steps[d.row].title, d.n, +(100 * (1 - 1 / page.shares[i])).toPrecision(12), y]));
      return csv(rows);
    case 'heat':
      rows.push(['contender', 'step', 'from_ms', 'to_ms', 'responses', 'of']);
      for (const d of page.latencies) for (const [k, n] of d.heat) rows.push([page.contenders[d.c], page.steps[d.row].title, +bucketFrom(k).toPrecision(6), +bucketFrom(k + 1).toPrecision(6), n, d.n]);
      return csv(rows);
    case 'time':
      rows.push(['contender', 'round', 'second', 'measure', 'value']);
      for (const l of page.lines) {
        for (const parts of panes) for (const [times, m] of parts) l[times].forEach((t, i) => { if (t !== null) rows.push([page.contenders[l.c], l.r, t, measures[m], l[m][i]]); });
      }
      return csv(rows);
    case 'bars':
      rows.push(['contender', 'round', chart.title]);
      chart.option.series[0].data.forEach((d, c) => rows.push([page.contenders[c], 'all', number(d.value)]));
      for (const d of chart.option.series[1].data ?? []) rows.push([page.contenders[d.value[1]], d.value[2], d.value[0]]);
      return csv(rows);
    case 'stack':
      rows.push(['contender', 'round', 'request', 'phase', chart.title]);
      chart.option.series.forEach((s) => s.data.forEach((d, i) => rows.push([page.contenders[chart.series[i].c], chart.series[i].r, chart.option.yAxis[0].data[i], s.name, number(d.value)])));
      return csv(rows);
  }
  rows.push(['contender', 'round', 'step', 'warm_up', ...(chart.kind === 'curve' ? ['x'] : []), chart.title, ...(chart.kind === 'curve' ? [] : ['low', 'high'])]);
  const bands = new Map(chart.series.map((w, i) => [w.role === 'band' ? w.c : -1, chart.option.series[i].data]));
  chart.series.forEach((w, i) => {
    if (w.role === 'band' || w.role === 'limit') return;
    chart.option.series[i].data.forEach((d, row) => {
      const v = Array.isArray(d.value) ? d.value : [null, number(d.value)];
      const step = chart.rows ? page.steps[chart.rows[row]] : chart.kind === 'curve' ? (row === 0 ? null : page.steps[row - 1]) : page.steps[row];
      const band = w.role === 'middle' ? bands.get(w.c)?.[row].value : undefined;
      rows.push([page.contenders[w.c], w.r ?? 'all', step?.title ?? 'before load', step?.warm ? 1 : 0, ...(chart.kind === 'curve' ? [v[0]] : []), v[1],
        ...(chart.kind === 'curve' ? [] : Array.isArray(band) ? [band[1], band[2]] : [null, null])]);
    });
  });
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
