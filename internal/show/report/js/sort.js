// Makes the columns of table[data-sort] sortable: a button in each header, and a list on narrow screens, where rows are cards without a header.
// Rows without a value stay at the end. data-value is the number of a cell whose text is more than a number.
function sortable(table) {
  const body = table.tBodies[0];
  const heads = [...[...table.tHead.rows].at(-1).cells];
  const valueOf = (row, i) => {
    const cell = row.cells[i];
    const text = cell?.dataset.value ?? cell?.textContent.trim() ?? '';
    if (text === '' || text === missing) return null;
    return Number.isNaN(Number(text)) ? text : Number(text);
  };
  const compare = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
  const columns = heads.map((th, i) => ({ th, i, name: body.rows[0]?.cells[i]?.dataset.label ?? th.textContent.trim() })).filter(({ th }) => !th.hasAttribute('data-nosort'));
  const list = element('select', {}, element('option', { value: '' }, 'as measured'),
    ...columns.flatMap(({ i, name }) => [element('option', { value: i }, `${name}, lowest first`), element('option', { value: `-${i}` }, `${name}, highest first`)]));
  const measured = [...body.rows];
  const sortBy = (column, down) => {
    for (const th of heads) th.removeAttribute('aria-sort');
    column?.th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    list.value = column ? `${down ? '-' : ''}${column.i}` : '';
    const rows = measured.map((row) => [row, column ? valueOf(row, column.i) : 0]);
    rows.sort(([, a], [, b]) => a === null || b === null ? (a === null) - (b === null) : down ? compare(b, a) : compare(a, b));
    body.append(...rows.map(([row]) => row));
  };
  for (const column of columns) {
    const button = element('button', { type: 'button', class: 'sort' });
    button.append(...column.th.childNodes);
    column.th.append(button);
    button.addEventListener('click', () => sortBy(column, column.th.getAttribute('aria-sort') === 'ascending'));
  }
  list.addEventListener('change', () => sortBy(columns.find(({ i }) => i === Math.abs(Number(list.value)) && list.value !== ''), list.value.startsWith('-')));
  if (table.classList.contains('results') && measured.length > 1) table.before(element('div', { class: 'sortby' }, element('label', {}, 'Sort ', list)));
}
for (const table of document.querySelectorAll('table[data-sort]')) sortable(table);
start();
