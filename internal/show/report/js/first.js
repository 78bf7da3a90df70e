// Draws the charts of the first screen: lines with their names at the ends, laid out for the width.
const short = (s) => s.replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ");
const ticks = (unit) => (v) => unit === '$' ? `$${(+v.toPrecision(3)).toLocaleString('en-US')}` : unit === 'ms' ? short(milliseconds(v)) : unit === 'µs' ? short(`${significant(v)} µs`) : v >= 1000 ? `${+(v / 1000).toPrecision(3)} k` : `${+v.toPrecision(3)}`;

function first(chart, width) {
  const option = base(chart);
  const narrow = width < 440;
  const [x, y] = [option.xAxis[0], option.yAxis[0]];
  x.splitLine = { show: false };
  if (x.type === 'log') {
    const all = [...new Set(option.series.flatMap((s) => s.data.map((d) => d.value[0])))].sort((a, b) => a - b);
    const every = Math.max(1, Math.ceil(all.length / (narrow ? 4 : 7)));
    x.logBase = 2;
    x.min = all[0];
    x.max = all.at(-1);
    x.axisLabel.customValues = all.filter((_, i) => i % every === 0);
    x.axisTick = { customValues: all };
  }
  const counted = ['round', 'seconds', 'requests'].includes(x.name);
  if (counted) Object.assign(x, { minInterval: 1, min: x.name === 'seconds' ? 0 : 1, max: Math.ceil(Math.max(...option.series.flatMap((s) => s.data.map((d) => d.value[0])))) });
  x.axisLabel.formatter = counted ? (v) => `${v}` : x.type === 'log' ? (v) => Math.round(v).toLocaleString('en-US') : ticks('');
  if (x.name === 'request') {
    const labels = page.steps.filter((s) => !s.warm).map((s) => s.label);
    Object.assign(x, { min: 0, max: labels.length - 1, interval: 1 });
    x.axisLabel.formatter = (v) => labels[v] ?? '';
  }
  y.axisLabel.formatter = ticks(chart.unit);
  if (narrow) { // the caption names the axis
    y.splitNumber = 3;
    x.name = '';
    Object.assign(option.grid[0], { top: 8, bottom: 4 });
  }
  y.scale = chart.points;
  const longest = Math.max(...chart.lines.filter((w) => !w.context).map((w) => w.name.length));
  option.grid[0].right = Math.min(width / 3, 7.2 * longest + 14);
  option.series.forEach((s, i) => {
    const w = chart.lines[i], ink = w.context ? css('--edge') : color(w.c), bare = w.context && !chart.points || chart.steps && s.data.length > 1;
    Object.assign(s, { color: ink, symbol: shape(w.c), symbolSize: bare ? 0 : w.context ? 5 : 7, showSymbol: !bare, showAllSymbol: true, emphasis: { disabled: true }, z: w.context ? 1 : 3, silent: w.context });
    s.lineStyle = chart.points ? { width: 0 } : { width: w.context ? 1 : 2, type: w.context ? 'solid' : dash(w.c), opacity: w.context ? 0.6 : 1 };
  });
  if (chart.goals && option.series.length > 0) {
    option.series[0].markLine = { silent: true, symbol: 'none', animation: false, lineStyle: { color: css('--off'), type: [5, 4], width: 1.5 },
      data: chart.goals.map((g) => ({ yAxis: g.at, label: { formatter: plain(g.text), position: 'insideStartTop', color: css('--off'), fontSize: 12 } })) };
    const highest = Math.max(...chart.goals.map((g) => g.at));
    y.max = ({ max }) => max < highest ? highest * (y.type === 'log' ? 2 : 1.1) : null; // the line is in the chart
  }
  option.tooltip.formatter = (p) => `${plain(chart.lines[p.seriesIndex].name)}\n${x.axisLabel.formatter(p.value[0])}: ${ticks(chart.unit)(p.value[1])}`;
  return option;
}

// lineNames writes the names of the lines at their ends, and moves those down that would cover others.
function lineNames(chart, drawn) {
  const placed = [];
  const ends = chart.lines.flatMap((w, i) => {
    const data = drawn.getOption().series[i].data;
    if (w.context || data.length === 0) return [];
    const [left, top] = drawn.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, data.at(-1).value);
    if (chart.steps && data.length === 1) { // above a rising line
      const [zero] = drawn.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, [0, 0]);
      return [{ w, left: Math.max(zero + 4, left - 7.2 * w.name.length - 4), top: top - 10 }];
    }
    return [{ w, left: left + 9, top }];
  }).sort((a, b) => a.top - b.top);
  const height = 14, width = (e) => 7.2 * e.w.name.length;
  const covers = (a, b) => Math.abs(a.top - b.top) < height - 0.5 && a.left < b.left + width(b) && b.left < a.left + width(a);
  for (const e of ends) { // each move is further down, so this ends
    e.left = Math.min(e.left, drawn.getWidth() - width(e) - 2);
    for (let other = placed.find((p) => covers(p, e)); other; other = placed.find((p) => covers(p, e))) e.top = other.top + height;
    placed.push(e);
  }
  let lowest = drawn.getHeight() - height / 2;
  for (const e of placed.sort((a, b) => b.top - a.top)) { // those that moved below the chart move up
    if (e.top <= lowest) break;
    e.top = lowest;
    lowest -= height;
  }
  drawn.setOption({ graphic: placed.map(({ w, left, top }) => ({ type: 'text', left, top: top - height / 2, silent: true, z: 10,
    style: { text: plain(w.name), fill: color(w.c), fontSize: 12, fontWeight: 600, stroke: css('--paper'), lineWidth: 2 } })) });
}

function drawFirst() {
  for (const chart of page.first) {
    const el = document.getElementById(`first-${chart.id}`);
    if (el.clientWidth === 0) continue; // a narrow page has one chart
    const drawn = echarts.getInstanceByDom(el) ?? echarts.init(el, null, { renderer: 'svg' });
    drawn.resize({ silent: true });
    drawn.setOption(first(chart, el.clientWidth), { notMerge: true });
    lineNames(chart, drawn);
  }
}
