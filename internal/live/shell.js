
'use strict';
// Keeps the newest report in a frame. A new one is loaded behind the old, gets its scroll position, open details, ticked boxes, sorted
// columns and pressed buttons (the legend), and takes its place.
(() => {
  const frames = document.getElementById('frames');
  const words = document.getElementById('status');
  const light = document.getElementById('light');
  let current = null, next = null, waiting = false, loaded = 0;

  // A name for an element that is the same in the next page: its id, or its place among those of its kind in the nearest part with one.
  const key = (el) => {
    if (el.id) return `#${el.id}`;
    const part = el.parentElement.closest('[id]') ?? el.ownerDocument.body;
    return `${part.id}/${el.localName}/${[...part.querySelectorAll(el.localName)].indexOf(el)}`;
  };
  const charts = (w) => w.echarts ? [...w.document.querySelectorAll('[id]')].flatMap((el) => {
    const chart = w.echarts.getInstanceByDom(el);
    return chart ? [[el.id, chart]] : [];
  }) : [];

  function remember(frame) {
    const w = frame.contentWindow, d = w.document;
    const state = { y: w.scrollY, part: null, details: new Map(), boxes: new Map(), pressed: new Map(), sorted: new Map(), legends: new Map(), focus: d.hasFocus() && d.activeElement ? key(d.activeElement) : null };
    for (const el of d.querySelectorAll('main [id]')) {
      const top = el.getBoundingClientRect().top;
      if (top <= 8) state.part = [el.id, top];
    }
    for (const el of d.querySelectorAll('details')) state.details.set(key(el), el.open);
    for (const el of d.querySelectorAll('input[type=checkbox], input[type=radio]')) state.boxes.set(key(el), el.checked);
    for (const el of d.querySelectorAll('select')) state.boxes.set(key(el), el.value);
    for (const el of d.querySelectorAll('button[aria-pressed]')) state.pressed.set(key(el), el.getAttribute('aria-pressed'));
    for (const el of d.querySelectorAll('th[aria-sort]')) state.sorted.set(key(el), el.getAttribute('aria-sort'));
    for (const [id, chart] of charts(w)) state.legends.set(id, chart.getOption().legend?.[0]?.selected ?? {});
    return state;
  }

  function restore(frame, state) {
    const w = frame.contentWindow, d = w.document;
    for (const el of d.querySelectorAll('details')) if (state.details.has(key(el))) el.open = state.details.get(key(el));
    for (const el of d.querySelectorAll('input[type=checkbox], input[type=radio]')) if (state.boxes.has(key(el)) && el.checked !== state.boxes.get(key(el))) el.click();
    for (const el of d.querySelectorAll('select')) {
      const value = state.boxes.get(key(el));
      if (value !== undefined && el.value !== value) { el.value = value; el.dispatchEvent(new w.Event('change', { bubbles: true })); }
    }
    for (const el of d.querySelectorAll('button[aria-pressed]')) if (state.pressed.has(key(el)) && el.getAttribute('aria-pressed') !== state.pressed.get(key(el))) el.click();
    for (const el of d.querySelectorAll('th')) {
      for (let i = 0; i < 2 && state.sorted.has(key(el)) && el.getAttribute('aria-sort') !== state.sorted.get(key(el)); i++) el.querySelector('button')?.click();
    }
    for (const [id, chart] of charts(w)) {
      for (const [name, shown] of Object.entries(state.legends.get(id) ?? {})) {
        const is = chart.getOption().legend?.[0]?.selected?.[name] ?? true;
        if (shown !== is) chart.dispatchAction({ type: shown ? 'legendSelect' : 'legendUnSelect', name });
      }
    }
    const part = state.part && d.getElementById(state.part[0]);
    w.scrollTo({ top: part ? w.scrollY + part.getBoundingClientRect().top - state.part[1] : state.y, behavior: 'instant' });
    if (state.focus) {
      const focused = [...d.querySelectorAll('a, button, input, select, summary, [tabindex]')].find((el) => key(el) === state.focus);
      (focused ?? w).focus({ preventScroll: true });
    }
  }

  function load() {
    if (next) { waiting = true; return; }
    next = document.createElement('iframe');
    next.title = 'report';
    next.className = current ? 'next' : '';
    next.addEventListener('load', () => {
      try {
        if (next.contentDocument?.querySelector('main')) {
          if (current) restore(next, remember(current));
          document.title = next.contentDocument.title;
          next.className = '';
          current?.remove();
          current = next;
          document.documentElement.dataset.pages = String(++loaded);
        } else {
          next.remove();
        }
      } finally {
        next = null;
        if (waiting) { waiting = false; load(); }
      }
    }, { once: true });
    next.src = '/report';
    frames.append(next);
  }

  const events = new EventSource('/events');
  events.addEventListener('status', (e) => {
    const s = JSON.parse(e.data);
    words.textContent = s.text;
    light.className = s.live ? 'live' : '';
  });
  events.addEventListener('page', load);
  events.addEventListener('end', () => {
    events.close();
    words.textContent = 'the server has ended; the page stays as it is';
    light.className = '';
  });
  events.addEventListener('error', () => {
    words.textContent = 'the connection is lost; trying again';
    light.className = 'lost';
  });
})();
