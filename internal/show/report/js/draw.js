// Draws charts when they come into view, and again when their size, the colors or the contenders change.
const placeOf = (chart) => document.getElementById(`plot-${chart.id}`);
const inView = new Set();
const stale = new Set(page.charts); // drawn when they come into view

function draw(chart) {
  stale.delete(chart);
  const el = placeOf(chart);
  const height = heightOf(chart);
  if (height) el.style.height = `${height}px`;
  try {
    const drawn = echarts.getInstanceByDom(el) ?? echarts.init(el, null, { renderer: 'svg' });
    if (drawn.getWidth() !== el.clientWidth || drawn.getHeight() !== el.clientHeight) drawn.resize({ silent: true });
    drawn.setOption(dress(chart, el.clientWidth), { notMerge: true });
  } catch (err) {
    el.textContent = 'Could not draw this chart; see the table below.';
    console.error(`chart ${chart.id}`, err);
  }
}

function refresh(chart) {
  if (inView.has(chart)) draw(chart); else stale.add(chart);
  fillTable(chart);
}
const refreshAll = () => { page.charts.forEach(refresh); drawFirst(); };
const drawAll = () => { page.charts.forEach(draw); drawFirst(); };

function legend() {
  const bar = document.getElementById('legend');
  if (page.charts.length === 0) return;
  bar.hidden = false;
  const buttons = [...bar.querySelectorAll('[data-contender]')];
  for (const b of buttons) {
    const c = Number(b.dataset.contender);
    b.prepend(key(c));
    b.addEventListener('click', () => {
      if (shown.has(c)) shown.delete(c); else shown.add(c);
      b.setAttribute('aria-pressed', shown.has(c));
      refreshAll();
    });
  }
  for (const b of bar.querySelectorAll('[data-all]')) {
    b.addEventListener('click', () => {
      for (const p of buttons) {
        const c = Number(p.dataset.contender);
        if (b.dataset.all === 'true') shown.add(c); else shown.delete(c);
        p.setAttribute('aria-pressed', shown.has(c));
      }
      refreshAll();
    });
  }
}

// key returns a short line with a contender's color, dash and shape.
function key(c) {
  const svg = (name, attributes) => {
    const el = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [k, v] of Object.entries(attributes)) el.setAttribute(k, v);
    return el;
  };
  const all = svg('svg', { width: 34, height: 12, viewBox: '0 0 34 12', 'aria-hidden': 'true', class: `key k${c % page.colors}` });
  all.append(svg('line', { x1: 0, y1: 6, x2: 34, y2: 6, 'stroke-width': 2.5, ...(dash(c) !== 'solid' && { 'stroke-dasharray': dash(c).join(' ') }) }));
  const forms = ['M17,1a5,5 0 1 0 .01,0z', 'M12,1h10v10h-10z', 'M17,1l5,10h-10z', 'M17,0l6,6l-6,6l-6,-6z', 'M15,1h4v3h3v4h-3v3h-4v-3h-3v-4h3z', 'M12,1h10l-5,10z'];
  all.append(svg('path', { d: forms[c % forms.length] }));
  return all;
}

// The choice of automatic, light or dark colors; the browser keeps it for other reports, if it lets files keep data.
function themes() {
  const kept = { get: () => { try { return localStorage.getItem('locbench-colors'); } catch { return null; } },
    set: (t) => { try { localStorage.setItem('locbench-colors', t); } catch { /* kept for this page only */ } } };
  const all = ['auto', 'light', 'dark'];
  const select = element('select', { id: 'theme' }, ...all.map((t) => element('option', { value: t }, t)));
  const apply = () => {
    if (select.value === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = select.value;
  };
  if (all.includes(kept.get())) {
    select.value = kept.get();
    apply();
  }
  select.addEventListener('change', () => {
    apply();
    kept.set(select.value);
    refreshAll();
  });
  document.querySelector('header').prepend(element('label', { class: 'theme' }, 'Colors ', select));
}

// arrows makes the arrow keys go from step to step in a focused chart, and announces the tooltip.
function arrows(chart, said) {
  const el = placeOf(chart);
  let i = -1;
  el.addEventListener('keydown', (e) => {
    const drawn = echarts.getInstanceByDom(el);
    if (!drawn || !['ArrowLeft', 'ArrowRight', 'Escape'].includes(e.key)) return;
    if (e.key === 'Escape') { drawn.dispatchAction({ type: 'hideTip' }); return; }
    e.preventDefault();
    i = Math.min(page.steps.length - 1, Math.max(0, i + (e.key === 'ArrowLeft' ? -1 : 1)));
    const series = drawn.getOption().series;
    // A line may lack a step; the tooltip is that of the first line with it.
    const at = series.findIndex((s) => s.type === 'line' && s.data?.[i] !== undefined && s.data[i].value !== '-');
    const who = chart.series.filter((w) => shown.has(w.c));
    said.textContent = stepTooltip(chart, rowsOf(chart), who, who.map((_, seriesIndex) => ({ seriesIndex, dataIndex: i, marker: '' })));
    drawn.dispatchAction(at < 0 ? { type: 'hideTip' } : { type: 'showTip', seriesIndex: at, dataIndex: i });
  });
}

function start() {
  themes();
  drawFirst();
  addEventListener('resize', drawFirst);
  legend();
  const said = element('p', { class: 'hidden', 'aria-live': 'polite', id: 'said' });
  document.querySelector('main').append(said);
  for (const chart of page.charts) {
    const tools = element('div', { class: 'tools' }, ...choices(chart), element('span', { class: 'save' }, ...saveButtons(chart)));
    document.querySelector(`#chart-${chart.id} figcaption h3`).after(tools);
    document.querySelector(`#chart-${chart.id} .values-of`)?.closest('details').addEventListener('toggle', () => fillTable(chart));
  }
  for (const chart of page.charts.filter((c) => c.kind === 'steps')) arrows(chart, said);
  const byPlace = new Map(page.charts.map((chart) => [placeOf(chart), chart]));
  const seen = new IntersectionObserver((entries) => {
    for (const e of entries) {
      const chart = byPlace.get(e.target);
      if (e.isIntersecting) {
        inView.add(chart);
        if (stale.has(chart)) draw(chart);
      } else inView.delete(chart);
    }
  }, { rootMargin: '300px' });
  // A chart follows the size of its place, which more than the window can change.
  const places = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const drawn = echarts.getInstanceByDom(target);
      if (drawn && drawn.getWidth() !== target.clientWidth) refresh(byPlace.get(target));
    }
  });
  for (const el of byPlace.keys()) {
    seen.observe(el);
    places.observe(el);
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', refreshAll);
  // Paper is light, has its own width and shows everything.
  matchMedia('print').addEventListener('change', drawAll);
  addEventListener('beforeprint', () => {
    for (const part of document.querySelectorAll('details.folded')) part.open = true; // paper cannot be clicked
    drawAll();
  });
}
