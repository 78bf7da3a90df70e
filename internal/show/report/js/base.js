'use strict';
// What all parts of the script share: the data, what is shown, colors from style.css, numbers as text.
const page = JSON.parse(document.getElementById('page-data').textContent);
const hidden = new Set(); // contenders
const chosen = { step: page.peak, round: Math.min(...page.charts.flatMap((c) => c.choose === 'round' ? c.lines.map((l) => l.r ?? 0) : [])) };

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
  if (x === 0) return '0';
  if (Math.abs(x) >= 100) return Math.round(x).toLocaleString('en-US');
  return Math.abs(x) < 1e-6 ? x.toExponential(2) : x.toPrecision(3);
}
function milliseconds(x) {
  if (x < 1) return `${significant(x * 1000)} µs`;
  return x < 1000 ? `${significant(x)} ms` : `${significant(x / 1000)} s`;
}
// inUnit returns a value with its unit; short leaves out digits that say nothing, for axes.
function inUnit(unit, x) {
  if (unit === 'ms') return milliseconds(x);
  if (unit === '%') return `${significant(x)}%`;
  if (unit === '$') return `$${x.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `${significant(x)}${unit.startsWith('/') || unit === '' ? '' : ' '}${unit.replace('successes', '')}`;
}
const short = (unit) => (x) => unit === '$' ? `$${(+x.toPrecision(3)).toLocaleString('en-US')}` : unit === 'ms' || unit === 'µs' || unit === '%' ? inUnit(unit, x).replace(/(\.\d*?)0+(?=\D|$)/, '$1').replace(/\.(?=\D|$)/, '')
  : x >= 1e6 ? `${+(x / 1e6).toPrecision(3)} M` : x >= 1000 ? `${+(x / 1000).toPrecision(3)} k` : `${+x.toPrecision(3)}`;

function element(name, attributes, ...children) {
  const el = document.createElement(name);
  for (const [k, v] of Object.entries(attributes ?? {})) el.setAttribute(k, v);
  el.append(...children); // strings become text
  return el;
}
