
'use strict';
// Draws the charts from the JSON in #charts. Colours come from style.css, words from the tables under the charts.
(() => {
  const charts = JSON.parse(document.getElementById('charts').textContent);
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const maxTooltipLines = 14;

  // In ECharts' rich text, braces are markup; a name must not be.
  const plain = (s) => s.replaceAll('{', '(').replaceAll('}', ')');

  // The table of a figure says what its tooltips say: row i, column j.
  const rowsOf = (id) => [...document.querySelectorAll(`#figure-${id} tbody tr`)].map((tr) => ({
    title: tr.cells[0].textContent,
    cells: [...tr.cells].slice(1).map((td) => td.textContent),
  }));

  const limited = (lines) => lines.length <= maxTooltipLines ? lines
    : [...lines.slice(0, maxTooltipLines), `and ${lines.length - maxTooltipLines} more in the table below`];

  // All rounds of a contender on one line.
  function stepTooltip(chart, rows, params) {
    const list = (Array.isArray(params) ? params : [params]).filter((p) => chart.series[p.seriesIndex]);
    if (list.length === 0) return '';
    const row = rows[list[0].dataIndex];
    const lines = new Map();
    for (const p of list) {
      const s = chart.series[p.seriesIndex];
      const words = row.cells[p.seriesIndex].replace(/ \(.*\)/, '');
      if (!lines.has(s.label)) lines.set(s.label, { marker: p.marker, words: [] });
      lines.get(s.label).words.push(words);
    }
    return [plain(row.title), ...limited([...lines].map(([label, l]) => `${l.marker}${plain(label)}: ${plain(l.words.join(' · '))}`))].join('\n');
  }

  function itemTooltip(chart, rows, p) {
    const bars = chart.kind === 'bars';
    const s = chart.series[bars ? p.dataIndex : p.seriesIndex];
    if (!s) return '';
    const row = rows[bars ? 0 : p.dataIndex];
    const cell = row.cells[bars ? p.dataIndex : p.seriesIndex];
    return `${plain(s.name)}\n${plain(row.title)}: ${plain(cell)}`;
  }

  // Rows are the parts of a bar and their total, for each bar of a leg; the bars of a leg stand together.
  function stackTooltip(chart, rows, p) {
    const parts = chart.option.series.length, bars = rows.length / (parts + 1);
    const s = chart.series[Math.floor(p.dataIndex / bars)];
    if (!s) return '';
    const at = (p.dataIndex % bars) * (parts + 1), leg = chart.series.indexOf(s);
    return [plain(s.name), ...[at + p.seriesIndex, at + parts].map((i) => `${plain(rows[i].title)} ${plain(rows[i].cells[leg])}`)].join('\n');
  }

  function dress(chart) {
    const option = structuredClone(chart.option);
    const rows = rowsOf(chart.id);
    const palette = Array.from({ length: 10 }, (_, i) => css(`--c${i}`));
    const ink = css('--ink'), soft = css('--soft'), line = css('--line'), panel = css('--panel');
    option.textStyle = { color: ink, fontFamily: 'sans-serif' };
    option.legend.textStyle = { color: ink };
    option.legend.pageTextStyle = { color: soft };
    option.legend.pageIconColor = ink;
    option.legend.pageIconInactiveColor = line;
    option.legend.inactiveColor = line;
    option.tooltip.backgroundColor = panel;
    option.tooltip.borderColor = line;
    option.tooltip.textStyle = { color: ink, fontSize: 12 };
    option.tooltip.axisPointer = { lineStyle: { color: soft } };
    option.tooltip.formatter = chart.kind === 'steps' ? (p) => stepTooltip(chart, rows, p)
      : chart.kind === 'stack' ? (p) => stackTooltip(chart, rows, p) : (p) => itemTooltip(chart, rows, p);
    for (const axis of [...option.xAxis, ...option.yAxis]) {
      axis.axisLine = { lineStyle: { color: soft } };
      axis.axisLabel = { color: soft, hideOverlap: true };
      axis.axisTick = { alignWithLabel: true };
      axis.nameTextStyle = { color: soft };
      axis.splitLine = { show: axis.type !== 'category', lineStyle: { color: line } };
      axis.minorSplitLine = { show: false };
    }
    if (chart.kind === 'stack') {
      const narrow = document.getElementById(`chart-${chart.id}`).clientWidth < 500;
      option.yAxis[0].axisLabel = { color: ink, interval: 0, ...(narrow && { width: 110, overflow: 'truncate' }) };
      option.series.forEach((s, i) => { s.color = palette[i % palette.length]; s.barMaxWidth = 18; });
      return option;
    }
    if (chart.kind === 'bars') {
      const narrow = document.getElementById(`chart-${chart.id}`).clientWidth < 500;
      option.yAxis[0].axisLabel = { color: ink, interval: 0, ...(narrow && { width: 110, overflow: 'truncate' }) };
      const bars = option.series[0];
      bars.barMaxWidth = 18;
      bars.label.color = ink;
      bars.label.formatter = (p) => plain(rows[0].cells[p.dataIndex]);
      bars.data.forEach((d, i) => { d.itemStyle = { color: palette[chart.series[i].color] }; });
      return option;
    }
    option.series.forEach((s, i) => {
      const who = chart.series[i];
      if (who) {
        s.color = palette[who.color];
        s.lineStyle = { width: 1.5, type: who.dashed ? 'dashed' : 'solid' };
        s.emphasis = { disabled: true };
        s.showAllSymbol = true;
      } else {
        s.silent = true;
        s.color = css('--band');
        s.label = { color: soft, fontSize: 11 };
        s.z = 0;
      }
    });
    return option;
  }

  function draw() {
    for (const chart of charts) {
      const el = document.getElementById(`chart-${chart.id}`);
      if (chart.kind === 'stack') el.style.height = `${110 + 22 * chart.option.yAxis[0].data.length}px`;
      if (chart.kind === 'bars') el.style.height = `${70 + (chart.series.length > 24 ? 16 : 26) * chart.series.length}px`;
      try {
        echarts.getInstanceByDom(el)?.dispose();
        echarts.init(el, null, { renderer: 'svg' }).setOption(dress(chart));
      } catch (err) {
        el.textContent = 'This chart could not be drawn; its values are in the table below.';
        console.error(`chart ${chart.id}`, err);
      }
    }
  }

  draw();
  // A chart follows its place: the window is not all that changes it.
  const places = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const chart = echarts.getInstanceByDom(target);
      if (chart && (chart.getWidth() !== target.clientWidth || chart.getHeight() !== target.clientHeight)) chart.resize();
    }
  });
  for (const chart of charts) places.observe(document.getElementById(`chart-${chart.id}`));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  // Paper is light and has a width of its own.
  matchMedia('print').addEventListener('change', draw);
})();
