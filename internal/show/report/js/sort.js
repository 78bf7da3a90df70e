// Makes the columns of table[data-sort] sortable by a button in each header. Rows without a value stay at the end. data-value is the number
// of a cell whose text is more than a number.
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
  const sortBy = (th, i, down) => {
    for (const other of heads) other.removeAttribute('aria-sort');
    th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const rows = [...body.rows].map((row) => [row, valueOf(row, i)]);
    rows.sort(([, a], [, b]) => a === null || b === null ? (a === null) - (b === null) : down ? compare(b, a) : compare(a, b));
    body.append(...rows.map(([row]) => row));
  };
  heads.forEach((th, i) => {
    if (th.hasAttribute('data-nosort')) return;
    const button = element('button', { type: 'button', class: 'sort' });
    button.append(...th.childNodes);
    th.append(button);
    button.addEventListener('click', () => sortBy(th, i, th.getAttribute('aria-sort') === 'ascending'));
  });
}
for (const table of document.querySelectorAll('table[data-sort]')) sortable(table);
start();
