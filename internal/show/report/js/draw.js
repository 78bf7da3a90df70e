// Draws charts when they come into view, and again when their size, the colors or what is shown changes.
const placeOf = (chart) => document.getElementById(`plot-${chart.id}`);
const inView = new Set();
const stale = new Set(page.charts); // drawn when they come into view

function draw(chart) {
  const el = placeOf(chart);
  if (el.clientWidth === 0) return; // a narrow page has one chart first
  stale.delete(chart);
  try {
    const drawn = echarts.getInstanceByDom(el) ?? echarts.init(el, null, { renderer: 'svg' });
    if (drawn.getWidth() !== el.clientWidth || drawn.getHeight() !== el.clientHeight) drawn.resize({ silent: true });
    drawn.setOption(dress(chart, el.clientWidth), { notMerge: true });
    nameLines(chart, drawn);
  } catch (err) {
    el.textContent = 'Could not draw this chart.';
    console.error(`chart ${chart.id}`, err);
  }
}

function refresh(chart) {
  if (inView.has(chart)) draw(chart); else stale.add(chart);
}
const refreshAll = () => page.charts.forEach(refresh);
const drawAll = () => page.charts.forEach(draw);

// choices returns a list above a chart of which one round or step is shown; charts share the choice.
function choices(chart) {
  if (!chart.choose) return [];
  const values = [...new Set(chart.lines.map((l) => (chart.choose === 'round' ? l.r : l.step) ?? 0))].sort((a, b) => a - b);
  if (values.length < 2) return [];
  const select = element('select', { 'data-choice': chart.choose }, ...values.map((v) => element('option', { value: v }, chart.choose === 'round' ? v : page.steps[v])));
  select.value = String(chosen[chart.choose]);
  select.addEventListener('change', () => {
    chosen[chart.choose] = Number(select.value);
    for (const other of document.querySelectorAll(`[data-choice=${chart.choose}]`)) other.value = select.value;
    refreshAll();
  });
  return [element('label', {}, chart.choose === 'round' ? 'Round ' : 'Step ', select)];
}

function legend() {
  const bar = document.getElementById('legend');
  if (!bar) return;
  bar.hidden = false;
  const buttons = [...bar.querySelectorAll('[data-contender]')];
  for (const b of buttons) {
    const c = Number(b.dataset.contender);
    b.prepend(key(c));
    b.addEventListener('click', () => {
      if (hidden.has(c)) hidden.delete(c); else hidden.add(c);
      b.setAttribute('aria-pressed', !hidden.has(c));
      refreshAll();
    });
  }
  for (const b of bar.querySelectorAll('[data-all]')) {
    b.addEventListener('click', () => {
      for (const p of buttons) {
        const c = Number(p.dataset.contender);
        if (b.dataset.all === 'true') hidden.delete(c); else hidden.add(c);
        p.setAttribute('aria-pressed', !hidden.has(c));
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

function start() {
  themes();
  legend();
  for (const chart of page.charts.filter((c) => c.first)) draw(chart);
  for (const chart of page.charts.filter((c) => !c.first)) {
    document.querySelector(`#chart-${chart.id} figcaption h3`).after(element('div', { class: 'tools' }, ...choices(chart), element('span', { class: 'save' }, ...saveButtons(chart))));
  }
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
