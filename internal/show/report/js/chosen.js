// Charts with a choice of the step, the round or the contender. Each also has its values as rows, for its table and its CSV.
const choice = { percentiles: { step: page.peak }, heat: { contender: 0 }, time: { round: 1, step: -1 } };

const distributionsOf = (row) => page.latencies.filter((d) => d.row === row && shown.has(d.c));

function percentiles(chart, option) {
  const all = distributionsOf(choice.percentiles.step);
  const most = Math.max(10, ...all.map((d) => page.shares[d.curve.length - 1]));
  const axis = option.xAxis[0];
  axis.min = 1;
  axis.max = 10 ** Math.ceil(Math.log10(most) - 1e-9);
  axis.axisLabel.formatter = percentile;
  option.series = all.map((d) => ({ type: 'line', name: page.contenders[d.c], color: color(d.c), symbol: shape(d.c), symbolSize: 6, emphasis: { disabled: true },
    lineStyle: { width: 2, type: dash(d.c) }, data: d.curve.map((y, i) => ({ value: [page.shares[i], y ?? '-'], ...(i % 10 !== 0 && { symbolSize: 0 }) })) }));
  option.tooltip.formatter = (list) => list.length === 0 ? '' : [`${percentile(list[0].value[0])} of the responses within`,
    ...limited(list.map((p) => `${p.marker}${plain(p.seriesName)}: ${milliseconds(p.value[1])}`))].join('\n');
  return option;
}

function percentileRows() {
  const all = distributionsOf(choice.percentiles.step);
  const longest = Math.max(0, ...all.map((d) => d.curve.length));
  return { columns: ['percentile', ...all.map((d) => `${page.contenders[d.c]}, of ${d.n.toLocaleString('en-US')}`)],
    rows: page.shares.slice(0, longest).map((x, i) => [percentile(x), ...all.map((d) => milliseconds(d.curve[i]))]) };
}

const bucketFrom = (k) => 10 ** (k / page.perDecade);

// heatOf returns the distributions of the chosen contender; if the legend hides it, those of the first one shown.
function heatOf(chart) {
  const have = new Set(page.latencies.map((d) => d.c).filter((c) => shown.has(c)));
  if (!have.has(choice.heat.contender) && have.size > 0) {
    choice.heat.contender = Math.min(...have);
    const select = document.querySelector(`#chart-${chart.id} [data-choice=contender]`);
    if (select) select.value = String(choice.heat.contender);
  }
  return have.size === 0 ? [] : page.latencies.filter((d) => d.c === choice.heat.contender);
}

function heat(chart, option) {
  const all = heatOf(chart);
  const ks = all.flatMap((d) => d.heat.map(([k]) => k));
  if (ks.length === 0) { option.series = []; option.visualMap = []; return option; }
  const low = Math.min(...ks), high = Math.max(...ks);
  option.xAxis[0].data = page.steps.map((s) => s.label);
  option.yAxis[0].data = Array.from({ length: high - low + 1 }, (_, i) => milliseconds(bucketFrom(low + i)));
  option.yAxis[0].axisLabel.interval = (i) => (low + i) % page.perDecade === 0 || high - low < page.perDecade;
  option.yAxis[0].axisTick = { alignWithLabel: false, interval: option.yAxis[0].axisLabel.interval };
  const cells = all.flatMap((d) => d.heat.map(([k, n]) => [d.row, k - low, Math.sqrt(n / d.n), n, n / d.n]));
  option.visualMap = [{ show: false, dimension: 2, min: 0, max: Math.max(...cells.map((c) => c[2])), inRange: { color: [css('--heat0'), css('--heat1'), css('--heat2')] } }];
  option.series = [{ type: 'heatmap', data: cells, emphasis: { disabled: true }, itemStyle: { borderWidth: 0 } }];
  option.tooltip.formatter = ({ value: [row, k, , n, share] }) => `${plain(page.steps[row].title)}\n${milliseconds(bucketFrom(low + k))} to ${milliseconds(bucketFrom(low + k + 1))}: ${significant(100 * share)}% (${n.toLocaleString('en-US')} responses)`;
  return option;
}

function heatRows(chart) {
  const all = heatOf(chart);
  const ks = all.flatMap((d) => d.heat.map(([k]) => k));
  const rows = [];
  for (let k = Math.max(...ks); ks.length > 0 && k >= Math.min(...ks); k--) {
    rows.push([`${milliseconds(bucketFrom(k))} to ${milliseconds(bucketFrom(k + 1))}`, ...all.map((d) => {
      const found = d.heat.find(([x]) => x === k);
      return found ? `${significant(100 * found[1] / d.n)}%` : '0%';
    })]);
  }
  return { columns: [`latency, ${page.contenders[choice.heat.contender]}`, ...all.map((d) => page.steps[d.row].title)], rows };
}

// Panes of the time chart, from above: for each line its group of times, its measure, and whether it is thick.
const panes = [[['t', 'rate', 1]], [['t', 'p50', 1], ['t', 'p99', 0]], [['t', 'err', 1]], [['at', 'cpu', 1]], [['at', 'thr', 1]], [['at', 'mem', 1]]];
const measures = { rate: 'successes/s', p50: 'p50, ms', p99: 'p99, ms', err: 'errors/s', cpu: 'CPUs in use', thr: 'throttled, %', mem: 'memory, MiB' };

const linesShown = () => page.lines.filter((l) => l.r === choice.time.round && shown.has(l.c));
const spanOf = (l) => choice.time.step < 0 ? { from: 0, to: Infinity } : l.steps.find((s) => s.row === choice.time.step);

// partOf returns the points of one measure within the chosen step, in seconds since the step began.
function partOf(l, times, measure) {
  const span = spanOf(l);
  if (!span) return [];
  const end = Math.min(...l.steps.filter((s) => s.from > span.from).map((s) => s.from), span.to === Infinity ? Infinity : span.to + 6);
  return l[times].flatMap((t, i) => t === null ? [[null, null]] : t < span.from || t > (span.to === Infinity ? Infinity : end) ? [] : [[t - span.from, l[measure][i]]]);
}

function time(chart, option, width) {
  const all = linesShown();
  const height = 104, gap = 46, narrow = width < 600;
  option.grid = panes.map((_, i) => ({ left: narrow ? 52 : 64, right: 16, top: 44 + i * (height + gap), height }));
  option.axisPointer = { link: [{ xAxisIndex: 'all' }] };
  option.series = [];
  panes.forEach((parts, pane) => parts.forEach(([times, measure, thick]) => all.forEach((l) => option.series.push({
    type: 'line', name: page.contenders[l.c], xAxisIndex: pane, yAxisIndex: pane, color: color(l.c), symbol: 'circle', symbolSize: 3, showSymbol: choice.time.step >= 0, emphasis: { disabled: true },
    lineStyle: { width: thick ? 1.8 : 1, opacity: thick ? 1 : 0.7, type: dash(l.c) }, measure,
    data: partOf(l, times, measure).map(([x, y]) => [x ?? '-', y === null || (pane === 1 && y <= 0) ? '-' : y]) }))));
  const last = Math.max(1, ...all.flatMap((l) => [...partOf(l, 't', 'rate'), ...partOf(l, 'at', 'cpu')].map(([x]) => x ?? 0)));
  option.xAxis.forEach((axis, i) => {
    axis.min = 0;
    axis.max = last;
    axis.axisLabel.show = i === panes.length - 1;
    axis.axisLabel.showMaxLabel = false;
    axis.splitLine.show = false;
    axis.axisPointer = { show: true, label: { show: false } };
  });
  option.yAxis.forEach((axis) => { axis.nameTextStyle = { color: css('--ink'), align: 'left', fontWeight: 'bold', padding: [0, 0, 0, narrow ? -44 : -56] }; axis.nameGap = 10; axis.splitNumber = 3; });
  option.yAxis[0].nameGap = 26; // above the names of the steps
  if (choice.time.step < 0 && all.length > 0) {
    // The steps of the first trial; those of the others begin slightly earlier or later.
    const borders = all[0].steps.map((s) => ({ xAxis: s.from, name: page.steps[s.row].label }));
    panes.forEach((_, pane) => option.series.push({ type: 'line', xAxisIndex: pane, yAxisIndex: pane, data: [], silent: true, markLine: { silent: true, symbol: 'none', animation: false,
      lineStyle: { color: css('--line'), type: 'solid' }, label: { show: pane === 0, formatter: '{b}', color: css('--soft'), fontSize: 10, position: 'end', distance: 8 }, labelLayout: { hideOverlap: true }, data: borders } }));
  }
  const measureOf = option.series.map((s) => s.measure);
  option.tooltip.formatter = (list) => {
    list = list.filter((p) => measureOf[p.seriesIndex] && typeof p.value[1] === 'number');
    if (list.length === 0) return '';
    const lines = list.map((p) => {
      const m = measureOf[p.seriesIndex];
      return `${p.marker}${plain(p.seriesName)}: ${m === 'p50' || m === 'p99' ? `${m} ${milliseconds(p.value[1])}` : `${significant(p.value[1])} ${measures[m]}`}`;
    });
    return [`at ${list[0].value[0].toFixed(1)} s`, ...limited([...new Set(lines)])].join('\n');
  };
  return option;
}

const maxTableRows = 1000;

// timeRows returns windows and readings, one below the other.
function timeRows() {
  const rows = [];
  for (const l of linesShown()) {
    for (const [times, ...list] of [['t', 'rate', 'err', 'p50', 'p99'], ['at', 'cpu', 'thr', 'mem']]) {
      const parts = list.map((m) => partOf(l, times, m));
      parts[0].forEach(([x], i) => {
        if (x === null) return;
        const row = [page.contenders[l.c], x.toFixed(1)];
        for (const m of Object.keys(measures)) row.push(list.includes(m) ? significant(parts[list.indexOf(m)][i][1]) : '');
        rows.push(row);
      });
    }
  }
  return { columns: ['contender', 'second', ...Object.values(measures)], rows };
}

const chosenRows = { percentiles: percentileRows, heat: heatRows, time: timeRows };

function fillTable(chart) {
  const place = document.querySelector(`#chart-${chart.id} .values-of`);
  if (!place?.closest('details').open) return;
  const { columns, rows } = chosenRows[chart.kind](chart);
  const head = element('tr', {}, ...columns.map((c) => element('th', { scope: 'col' }, c)));
  const body = rows.slice(0, maxTableRows).map(([first, ...cells]) => element('tr', {}, element('th', { scope: 'row' }, first), ...cells.map((c) => element('td', {}, c))));
  place.replaceChildren(element('table', { class: 'values' }, element('thead', {}, head), element('tbody', {}, ...body)));
  if (rows.length > maxTableRows) place.append(element('p', { class: 'note' }, `${maxTableRows} of ${rows.length.toLocaleString('en-US')} rows; the CSV has all.`));
}

// choices returns the lists above such a chart.
function choices(chart) {
  const make = (name, key, options) => {
    if (options.length < 2) return [];
    const select = element('select', { 'data-choice': key }, ...options.map(([value, label]) => element('option', { value }, label)));
    select.value = String(choice[chart.kind][key]);
    select.addEventListener('change', () => {
      choice[chart.kind][key] = Number(select.value);
      refresh(chart);
    });
    return [element('label', {}, `${name} `, select)];
  };
  const steps = (rows) => [...new Set(rows)].sort((a, b) => a - b).map((row) => [row, page.steps[row].title]);
  switch (chart.kind) {
    case 'percentiles': {
      const all = steps(page.latencies.map((d) => d.row));
      if (!all.some(([row]) => row === choice.percentiles.step)) choice.percentiles.step = all.at(-1)[0];
      return make('Step', 'step', all);
    }
    case 'heat': {
      const all = [...new Set(page.latencies.map((d) => d.c))].map((c) => [c, page.contenders[c]]);
      choice.heat.contender = all[0][0];
      return make('Contender', 'contender', all);
    }
    case 'time': {
      const rounds = [...new Set(page.lines.map((l) => l.r))].sort((a, b) => a - b);
      choice.time.round = rounds[0];
      return [...make('Round', 'round', rounds.map((r) => [r, String(r)])), ...make('Step', 'step', [[-1, 'all steps'], ...steps(page.lines.flatMap((l) => l.steps.map((s) => s.row)))])];
    }
  }
  return [];
}
