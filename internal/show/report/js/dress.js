// Completes go-echarts' options: colors, shapes, tooltips, and only the shown contenders.
const maxTooltipLines = 16;
const limited = (lines) => lines.length <= maxTooltipLines ? lines
  : [...lines.slice(0, maxTooltipLines), `and ${lines.length - maxTooltipLines} more in the table below`];

// base returns the options of a chart with the colors of the page.
function base(chart) {
  const option = structuredClone(chart.option);
  const ink = css('--ink'), soft = css('--soft'), line = css('--line');
  option.textStyle = { color: ink, fontFamily: 'sans-serif' };
  option.animation = false;
  option.legend.textStyle = { color: ink };
  option.tooltip = { ...option.tooltip, backgroundColor: css('--panel'), borderColor: line, textStyle: { color: ink, fontSize: 12 }, axisPointer: { lineStyle: { color: soft }, animation: false } };
  for (const axis of [...option.xAxis, ...option.yAxis]) {
    axis.axisLine = { lineStyle: { color: soft } };
    axis.axisLabel = { color: soft, hideOverlap: true };
    axis.axisTick = { alignWithLabel: true };
    axis.nameTextStyle = { color: soft };
    axis.splitLine = { show: axis.type !== 'category', lineStyle: { color: line } };
    axis.minorSplitLine = { show: false };
  }
  return option;
}

// places puts the steps on a logarithmic axis, with a tick for each.
function places(chart, axis) {
  const labels = new Map(chart.ticks.map((x, i) => [x, page.steps[i].label]));
  axis.logBase = 2;
  axis.axisLabel.customValues = chart.ticks;
  axis.axisTick.customValues = chart.ticks;
  axis.axisLabel.formatter = (x) => {
    for (const [at, label] of labels) if (Math.abs(at - x) <= 1e-4 * at) return label;
    return '';
  };
  axis.splitLine.show = false;
}

// warmUp returns the shade behind the warm-up steps.
function warmUp(chart) {
  if (!chart.warmUp) return null;
  const t = chart.ticks, n = chart.warmUp, fill = css('--band'), soft = css('--soft');
  const at = t && n < t.length ? Math.sqrt(t[n - 1] * t[n]) : t ? t[n - 1] : n - 1;
  return { type: 'custom', name: 'warm-up', silent: true, z: 0, data: [at], tooltip: { show: false }, renderItem: ({ coordSys: { x, y, height } }, api) => {
    const width = api.coord([at, 0])[0] - x + (t ? 0 : api.size([1, 0])[0] / 2);
    return { type: 'group', children: [{ type: 'rect', shape: { x, y, width, height }, style: { fill } },
      { type: 'text', style: { text: 'warm-up', x: x + width / 2, y: y + 4, align: 'center', fill: soft, fontSize: 11 } }] };
  } };
}

// ribbon draws a confidence band: [x, low, high] of each step.
function ribbon(series, who) {
  const points = series.data.map((d) => d.value);
  return { type: 'custom', name: series.name, silent: true, z: 1, clip: true, data: points.filter((p) => p !== '-'), encode: { x: 0, y: [1, 2] }, tooltip: { show: false },
    renderItem: (params, api) => {
      if (params.dataIndex > 0) return null; // one shape for the whole band
      const parts = [];
      let run = [];
      for (const p of [...points, '-']) {
        if (p !== '-') { run.push(p); continue; }
        if (run.length > 0) parts.push(run);
        run = [];
      }
      const at = (x, y) => api.coord([x, y]);
      return { type: 'group', children: parts.map((part) => part.length === 1
        ? { type: 'line', shape: line(at(part[0][0], part[0][1]), at(part[0][0], part[0][2])), style: { stroke: color(who.c), lineWidth: 5, opacity: 0.3 } }
        : { type: 'polygon', shape: { points: [...part.map((p) => at(p[0], p[2])), ...part.toReversed().map((p) => at(p[0], p[1]))] }, style: { fill: color(who.c), opacity: 0.2 } }) };
    } };
}
const line = ([x1, y1], [x2, y2]) => ({ x1, y1, x2, y2 });

function lines(chart, option) {
  const rows = rowsOf(chart);
  const who = [];
  const series = [];
  option.series.forEach((s, i) => {
    const w = chart.series[i];
    if (w.c >= 0 && !shown.has(w.c)) return;
    if (w.role === 'band') s = ribbon(s, w);
    else if (w.role === 'limit') limit(s);
    else style(chart, s, w);
    series.push(s);
    who.push(w);
  });
  const band = warmUp(chart);
  if (band) {
    series.push(band);
    who.push(null);
  }
  option.series = series;
  if (chart.ticks) places(chart, option.xAxis[0]);
  option.tooltip.formatter = chart.kind === 'curve' ? (p) => trialTooltip(chart, rows, who, p) : (p) => stepTooltip(chart, rows, who, p);
  return option;
}

// limit draws a limit as a dashed line with its name.
function limit(s) {
  const ink = css('--ink');
  Object.assign(s, { color: ink, symbol: 'none', silent: true, z: 1, lineStyle: { width: 1, type: 'dashed', opacity: 0.8 } });
  s.endLabel = { show: true, align: 'right', verticalAlign: 'bottom', offset: [-4, -8], color: ink, fontSize: 11, formatter: () => plain(s.name) };
}

// roomy are sizes of the shapes with room for a letter.
const roomy = [16, 15, 22, 20, 21, 22];

function style(chart, s, w) {
  const ink = color(w.c), thin = w.role === 'round';
  s.color = ink;
  s.symbol = shape(w.c);
  s.emphasis = { disabled: true };
  s.showAllSymbol = true;
  s.z = thin ? 2 : 3;
  s.lineStyle = { width: thin ? 1 : chart.kind === 'curve' ? 1.5 : 2.5, type: dash(w.c), opacity: thin ? 0.5 : 1 };
  s.symbolSize = thin ? 2.5 : w.marks ? roomy[w.c % shapes.length] : chart.rows ? 4 : 7;
  if (thin) s.itemStyle = { opacity: 0.6 };
  s.data = s.data.map((d, i) => {
    if (d.value === '-') return { value: '-' };
    if (d.symbol) return { value: d.value, itemStyle: { color: css('--paper'), borderColor: ink, borderWidth: 1.5 }, symbolSize: thin ? 2.5 : chart.rows ? 4 : 7 };
    const letter = w.marks?.[i];
    if (!letter) return { value: d.value, ...(w.marks && { symbolSize: 7 }) };
    return { value: d.value, label: { show: true, position: 'inside', offset: [0, [0, 0, 4, 0, 0, -4][w.c % shapes.length]], formatter: letter, color: css('--paper'), fontSize: 9, fontWeight: 'bold' } };
  });
}

// The tooltip of a step: a line for each contender, and if there are few, a line for its rounds.
function stepTooltip(chart, rows, who, params) {
  const list = (Array.isArray(params) ? params : [params]).filter((p) => who[p.seriesIndex] && who[p.seriesIndex].role !== 'band');
  if (list.length === 0) return '';
  const i = list[0].dataIndex, row = rows[i];
  const few = new Set(list.map((p) => who[p.seriesIndex].c)).size <= 3;
  const out = [plain(row.title)];
  for (const p of list) {
    const w = who[p.seriesIndex];
    if (w.role !== 'middle') continue;
    const rounds = trialsOf(w.c).map((j) => row.cells[j]);
    out.push(`${p.marker}${plain(w.name)}: ${plain(chart.several ? row.middles[w.c] : rounds[0])}`);
    if (chart.several && few && rounds.length > 1) out.push(`     rounds: ${plain(rounds.map((r) => r.replace(/ \(.*\)/, '')).join(' · '))}`);
    if (w.bounds?.[i]) out.push(`     ${plain(few ? w.bounds[i] : page.bounds[w.marks[i]])}`);
  }
  return limited(out).join('\n');
}

// trialsOf returns the columns of a contender's trials.
const trialsOf = (c) => page.trials.flatMap((x, j) => x === c ? [j] : []);

function trialTooltip(chart, rows, who, p) {
  const w = who[p.seriesIndex];
  if (!w) return '';
  const column = chart.series.indexOf(w), row = rows[p.dataIndex];
  return `${plain(w.name)}\n${plain(row.title)}: ${plain(row.cells[column])}`;
}

function bars(chart, option, width) {
  const rows = rowsOf(chart);
  const left = page.contenders.map((_, c) => c).filter((c) => shown.has(c));
  names(option, width);
  option.yAxis[0].data = left.map((c) => page.contenders[c]);
  const [bar, dots] = option.series;
  const words = (c) => chart.several ? rows[0].middles[c] : rows[0].cells[trialsOf(c)[0]];
  const narrow = width < 440;
  option.grid[0].right = narrow || !chart.several ? 72 : 190;
  bar.barMaxWidth = 18;
  bar.label = { show: true, position: 'right', distance: 8, color: css('--ink'), formatter: (p) => plain(narrow ? words(left[p.dataIndex]).replace(/ \(.*/, '') : words(left[p.dataIndex])) };
  bar.data = left.map((c) => ({ ...bar.data[c], itemStyle: { color: color(c), opacity: 0.85 } }));
  // Without a value there is no bar, and the text is at the start of the axis.
  bar.data.forEach((d, i) => { if (d.value === '-') bar.data[i] = { value: 0, itemStyle: { opacity: 0 } }; });
  dots.symbolSize = 5;
  dots.itemStyle = { color: css('--paper'), borderColor: css('--ink'), borderWidth: 1 };
  dots.data = (dots.data ?? []).filter((d) => shown.has(d.value[1])).map((d) => ({ value: [d.value[0], left.indexOf(d.value[1])] }));
  dots.silent = true;
  option.tooltip.formatter = (p) => {
    const c = left[p.dataIndex];
    return p.seriesIndex !== 0 ? '' : [plain(page.contenders[c]), ...(chart.several ? [plain(words(c))] : []), `rounds: ${plain(trialsOf(c).map((j) => rows[0].cells[j]).join(' · '))}`].join('\n');
  };
  return option;
}

// names labels the bars, as far as there is room.
function names(option, width) {
  option.yAxis[0].axisLabel = { color: css('--ink'), interval: 0, ...(width < 500 && { width: 110, overflow: 'truncate' }) };
}

// Rows are the parts of a bar and their total, for each bar of a trial; the bars of a trial are adjacent.
function stacks(chart, option, width) {
  const rows = rowsOf(chart);
  const parts = option.series.length, bars = rows.length / (parts + 1);
  const left = chart.series.map((_, i) => i).filter((i) => shown.has(chart.series[i].c));
  names(option, width);
  option.yAxis[0].data = left.map((i) => option.yAxis[0].data[i]);
  option.legend.show = true;
  option.legend.selectedMode = false;
  option.series.forEach((s, i) => {
    s.color = css(`--p${i}`);
    s.itemStyle = { borderColor: css('--paper'), borderWidth: 1 };
    s.barMaxWidth = 18;
    s.data = left.map((j) => s.data[j]);
  });
  option.tooltip.formatter = (p) => {
    const i = left[p.dataIndex], trial = Math.floor(i / bars), at = (i % bars) * (parts + 1);
    return [plain(chart.series[i].name), ...[at + p.seriesIndex, at + parts].map((k) => `${plain(rows[k].title)} ${plain(rows[k].cells[trial])}`)].join('\n');
  };
  return option;
}

// heightOf returns the height of a chart; undefined: the height in the style.
function heightOf(chart) {
  if (chart.kind === 'stack') return 110 + 22 * chart.series.filter((w) => shown.has(w.c)).length;
  if (chart.kind === 'bars') return 70 + 28 * Math.max(1, shown.size);
  return undefined;
}

function dress(chart, width) {
  const option = base(chart);
  switch (chart.kind) {
    case 'bars': return bars(chart, option, width);
    case 'stack': return stacks(chart, option, width);
    case 'percentiles': return percentiles(chart, option);
    case 'heat': return heat(chart, option);
    case 'time': return time(chart, option, width);
  }
  return lines(chart, option);
}
