// Completes go-echarts' options: colors, shapes, ticks, tooltips, and only what is shown. Charts are lines with their names at the ends, or bars.
const maxTooltipLines = 16;
const limited = (lines) => lines.length <= maxTooltipLines ? lines : [...lines.slice(0, maxTooltipLines), `and ${lines.length - maxTooltipLines} more`];

// linesOf returns the lines of a chart that are shown, each with its series.
const linesOf = (chart) => chart.lines.map((line, i) => ({ ...line, series: chart.option.series[i] }))
  .filter((l) => !hidden.has(l.c) && (chart.choose !== 'round' || l.r === chosen.round) && (chart.choose !== 'step' || (l.step ?? 0) === chosen.step));

// ribbon draws the confidence bands of a line: [x, y, low, high] of each point.
function ribbon(l) {
  const points = l.series.data;
  return { type: 'custom', name: l.name, silent: true, z: 1, clip: true, data: points, encode: { x: 0, y: [2, 3] }, tooltip: { show: false },
    renderItem: (params, api) => {
      if (params.dataIndex > 0) return null; // one shape for the whole band
      const known = points.filter((p) => p.length === 4);
      if (known.length === 1) {
        const [x1, y1] = api.coord([known[0][0], known[0][2]]), [x2, y2] = api.coord([known[0][0], known[0][3]]);
        return { type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke: color(l.c), lineWidth: 5, opacity: 0.3 } };
      }
      return { type: 'polygon', shape: { points: [...known.map((p) => api.coord([p[0], p[3]])), ...known.toReversed().map((p) => api.coord([p[0], p[2]]))] }, style: { fill: color(l.c), opacity: 0.2 } };
    } };
}

// horizontal completes the horizontal axis.
function horizontal(chart, axis, all, narrow) {
  const places = all.flatMap((l) => l.series.data.map((d) => d[0])).filter((x) => x !== null);
  axis.splitLine = { show: false };
  if (chart.bars) {
    axis.data = chart.ticks.map((t, i) => i);
    axis.axisLabel.formatter = (i) => plain(chart.ticks[i].text);
    return;
  }
  if (chart.ticks) {
    const label = new Map(chart.ticks.map((t) => [t.at, t.text]));
    const every = chart.choose || axis.type !== 'log' ? 1 : Math.max(1, Math.ceil(label.size / (narrow ? 4 : 9)));
    if (axis.type === 'log') axis.logBase = chart.choose ? 10 : 2;
    axis.min = chart.choose ? 1 : chart.ticks[0].at;
    axis.max = chart.choose ? Math.max(10, ...places) : chart.ticks.at(-1).at;
    axis.axisLabel.customValues = [...label.keys()].filter((x, i) => i % every === 0 && x <= axis.max);
    axis.axisTick = { customValues: [...label.keys()].filter((x) => x <= axis.max) };
    const nearest = (x) => chart.ticks.reduce((a, b) => Math.abs(b.at - x) < Math.abs(a.at - x) ? b : a);
    axis.axisLabel.formatter = chart.choose ? (x) => `${+(100 * (1 - 1 / x)).toFixed(5)}%` : (x) => plain(nearest(x).text);
  } else if (['round', 'seconds', 'requests'].includes(axis.name)) {
    Object.assign(axis, { minInterval: 1, min: axis.name === 'seconds' ? 0 : 1, max: Math.ceil(Math.max(1, ...places)) });
    axis.axisLabel.formatter = (x) => `${+x.toFixed(1)}`;
  } else axis.axisLabel.formatter = short('');
}

// across draws thresholds, limits and the starts of steps.
function across(chart, width) {
  const ink = css('--off'), soft = css('--soft');
  const every = Math.ceil(chart.marks.length * 36 / (width - 160)); // labels of steps do not cover each other
  const from = chart.option.series.flatMap((one) => one.data)[0][0]; // the vertical axis reaches to what is across
  return { type: 'line', data: chart.marks.filter((m) => !m.upright).map((m) => [from, m.at]), showSymbol: false, lineStyle: { opacity: 0 }, silent: true, tooltip: { show: false }, markLine: { silent: true, symbol: 'none', animation: false, data: chart.marks.map((m, i) => m.upright
    ? { xAxis: m.at, lineStyle: { color: css('--line'), type: 'solid', width: 1 }, label: { show: i % every === 0, formatter: plain(m.text), position: 'end', distance: 8, color: soft, fontSize: 10 } }
    : { yAxis: m.at, lineStyle: { color: ink, type: [5, 4], width: 1.5 }, label: { formatter: plain(m.text), position: 'insideStartTop', color: ink, fontSize: 12 } }) },
  labelLayout: { hideOverlap: true } };
}

function tooltip(chart, axis, all, params) {
  const list = [params].flat().filter((p) => p.seriesIndex < all.length && p.value[1] !== null);
  if (list.length === 0) return '';
  const few = list.length <= maxTooltipLines;
  return [axis.axisLabel.formatter(list[0].value[0]) + (axis.name && !chart.choose ? ` ${axis.name}` : ''), ...limited(list.filter((p) => few || !all[p.seriesIndex].faint).map((p) => {
    const [, y, low, high] = p.value, words = (v) => inUnit(chart.unit, v);
    return `${p.marker ?? ''}${plain(all[p.seriesIndex].name)}: ${words(y)}${low === undefined ? '' : ` (${words(low)} to ${words(high)})`}`;
  }))].join('\n');
}

// dress returns the option of a chart for a width.
function dress(chart, width) {
  const option = structuredClone(chart.option), narrow = width < 440;
  const all = linesOf(chart);
  const ink = css('--ink'), soft = css('--soft');
  const [x, y] = [option.xAxis[0], option.yAxis[0]];
  option.textStyle = { color: ink, fontFamily: 'sans-serif' };
  option.tooltip = { ...option.tooltip, backgroundColor: css('--panel'), borderColor: css('--line'), textStyle: { color: ink, fontSize: 12 }, axisPointer: { lineStyle: { color: soft }, animation: false } };
  for (const axis of [x, y]) {
    axis.axisLine = { lineStyle: { color: soft } };
    axis.axisLabel = { color: soft, hideOverlap: true };
    axis.nameTextStyle = { color: soft };
    axis.splitLine = { lineStyle: { color: css('--line') } };
    axis.minorSplitLine = { show: false };
  }
  horizontal(chart, x, all, narrow);
  y.axisLabel.formatter = short(chart.unit);
  y.scale = chart.points ?? false;
  if (narrow) y.splitNumber = 3;
  if (narrow && chart.first) { // the caption names the axis
    x.name = '';
    Object.assign(option.grid[0], { top: 8, bottom: 4 });
  }
  const named = all.filter((l) => !l.faint);
  option.grid[0].right = Math.min(width / (narrow ? 2 : 3), Math.max(0, ...named.map(nameWidth)) + 14);
  const dense = named.some((l) => l.series.data.length > 40) || chart.choose === 'step';
  option.series = all.map((l) => {
    const gray = l.faint && chart.first, c = gray ? css('--edge') : color(l.c);
    return { ...l.series, color: c, symbol: shape(l.c), symbolSize: l.faint ? 2.5 : 7, showSymbol: !gray && !dense, showAllSymbol: true, emphasis: { disabled: true }, z: l.faint ? 2 : 3, silent: gray,
      ...(chart.bars && { barMaxWidth: 48, itemStyle: { color: c, borderColor: css('--paper'), borderWidth: 1, opacity: [1, 0.7, 0.5, 0.35, 0.2][l.part ?? 0] } }),
      lineStyle: { width: chart.points ? 0 : l.faint ? 1 : 2, type: gray ? 'solid' : dash(l.c), opacity: l.faint ? 0.5 : 1 } };
  });
  option.series.push(...named.filter((l) => l.series.data.some((d) => d.length === 4)).map(ribbon));
  if (chart.marks) {
    option.series.push(across(chart, width));
    if (chart.marks.some((m) => m.upright)) option.grid[0].top = 28;
  }
  option.tooltip.formatter = (p) => tooltip(chart, x, all, p);
  return option;
}

// nameWidth is the width of the name of a line, in px.
function nameWidth(l) {
  ruler.font = '600 12px sans-serif';
  return ruler.measureText(plain(l.name)).width;
}

const ruler = document.createElement('canvas').getContext('2d');

// nameLines writes the names of the lines at their ends, and moves those down that would cover others.
function nameLines(chart, drawn) {
  const placed = [], height = 14, width = (e) => nameWidth(e.l);
  const ends = linesOf(chart).flatMap((l) => {
    const last = l.faint ? undefined : l.series.data.findLast((d) => d[1] !== null);
    if (!last) return [];
    const [left, top] = drawn.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, last);
    return [{ l, left: left + 9, top }];
  }).sort((a, b) => a.top - b.top);
  const covers = (a, b) => Math.abs(a.top - b.top) < height - 0.5 && a.left < b.left + width(b) && b.left < a.left + width(a);
  for (const e of ends) { // each move is further down, so this ends
    e.left = Math.min(e.left, drawn.getWidth() - width(e) - 2);
    for (let other = placed.find((p) => covers(p, e)); other; other = placed.find((p) => covers(p, e))) e.top = other.top + height;
    placed.push(e);
  }
  let lowest = drawn.getHeight() - Number(drawn.getOption().grid[0].bottom) - 22;
  for (const e of placed.sort((a, b) => b.top - a.top)) { // those that moved below the axis move up
    if (e.top <= lowest) break;
    e.top = lowest;
    lowest -= height;
  }
  drawn.setOption({ graphic: placed.map(({ l, left, top }) => ({ type: 'text', left, top: top - height / 2, silent: true, z: 10,
    style: { text: plain(l.name), fill: color(l.c), fontSize: 12, fontWeight: 600, stroke: css('--paper'), lineWidth: 2 } })) });
}
