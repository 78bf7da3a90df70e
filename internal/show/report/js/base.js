'use strict';
// What all parts of the script share: the data, the shown contenders, colors from style.css, numbers as text.
const page = JSON.parse(document.getElementById('page-data').textContent);
const shown = new Set(page.contenders.keys());

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const color = (c) => css(`--c${c % page.colors}`);
// A shape and a dash for each contender, for readers who do not see all colors. With the colors they repeat after 60.
const shapes = ['circle', 'rect', 'triangle', 'diamond', 'path://M0,0h4v3h3v4h-3v3h-4v-3h-3v-4h3z', 'path://M0,0l10,0l-5,10z'];
const dashes = ['solid', [7, 3], [2, 2], [10, 3, 2, 3]];
const shape = (c) => shapes[c % shapes.length];
const dash = (c) => dashes[c % dashes.length];

// Braces are markup in ECharts' rich text; names must not be.
const plain = (s) => String(s).replaceAll('{', '(').replaceAll('}', ')');
const missing = '–';

// Three significant digits and thousands separators; whole digits stay.
function significant(x) {
  if (x === null || x === undefined || !Number.isFinite(x)) return missing;
  if (x === 0) return '0';
  if (Math.abs(x) >= 100) return Math.round(x).toLocaleString('en-US');
  return Math.abs(x) < 1e-6 ? x.toExponential(2) : x.toPrecision(3);
}
function milliseconds(x) {
  if (x === null || x === undefined || !Number.isFinite(x)) return missing;
  if (x < 1) return `${significant(x * 1000)} µs`;
  return x < 1000 ? `${significant(x)} ms` : `${significant(x / 1000)} s`;
}
// 1/(1−q) as a percentile: 10 is 90%, 1000 is 99.9%.
const percentile = (x) => `${+(100 * (1 - 1 / x)).toFixed(Math.max(0, Math.ceil(Math.log10(x)) - 1))}%`;

// The rows of a chart's table, which has the text of its tooltips. The first columns are contenders, if they have columns; then come the trials.
function rowsOf(chart) {
  const middles = chart.several ? page.contenders.length : 0;
  return [...document.querySelectorAll(`#chart-${chart.id} .values tbody tr`)].map((tr) => {
    const cells = [...tr.cells].slice(1).map((td) => td.textContent);
    return { title: tr.cells[0].textContent, middles: cells.slice(0, middles), cells: cells.slice(middles) };
  });
}

function element(name, attributes, ...children) {
  const el = document.createElement(name);
  for (const [k, v] of Object.entries(attributes ?? {})) el.setAttribute(k, v);
  el.append(...children); // strings become text
  return el;
}
