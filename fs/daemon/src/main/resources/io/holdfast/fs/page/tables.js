// Elements of the page. Names that users chose come in as text only, never as markup.

/** Makes an element with text and attributes. */
export function element(name, content = '', attributes = {}) {
  const made = document.createElement(name);
  made.textContent = content;
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  return made;
}

/** Sets a text only where it is another, so that a screen reader says nothing twice. */
export function say(id, content) {
  const place = document.getElementById(id);
  if (place.textContent !== content) {
    place.textContent = content;
  }
}

/**
 * Fills a table. A column has a title, a function that writes its cell, and may be a number; the
 * first cell of a row is its heading. The exact figure of a number is in data-value.
 */
export function fill(id, caption, columns, rows, nothing) {
  const table = document.getElementById(id);
  if (!table.caption) {
    table.createCaption();
  }
  table.caption.textContent = caption;
  if (!table.tHead) {
    const heading = table.createTHead().insertRow();
    for (const column of columns) {
      heading.append(
        element('th', column.title, { scope: 'col', class: column.number ? 'number' : 'words' }));
    }
    table.createTBody();
  }
  table.tHead.hidden = rows.length === 0;
  const body = table.tBodies[0];
  const wanted = Math.max(1, rows.length);
  while (body.rows.length > wanted) {
    body.deleteRow(-1);
  }
  if (rows.length === 0) {
    const cell = element('td', nothing, { colspan: String(columns.length), class: 'none' });
    body.replaceChildren(element('tr'));
    body.rows[0].append(cell);
    return;
  }
  rows.forEach((row, i) => {
    const line = body.rows[i] ?? body.insertRow();
    if (line.cells.length !== columns.length) {
      line.replaceChildren(...columns.map((column, j) => cellOf(column, j)));
    }
    columns.forEach((column, j) => write(line.cells[j], column, row));
  });
}

function cellOf(column, index) {
  const kind = { class: column.number ? 'number' : 'words' };
  return index === 0 ? element('th', '', { scope: 'row', ...kind }) : element('td', '', kind);
}

function write(cell, column, row) {
  const value = column.value(row);
  const shown = column.write(value);
  if (cell.textContent !== shown) {
    cell.textContent = shown;
  }
  if (column.number) {
    exact(cell, value);
  }
  if (column.tier) {
    cell.dataset.tier = column.tier(row);
  }
}

/** Notes the exact figure that an element shows. */
export function exact(place, value) {
  if (value === undefined || value === null) {
    delete place.dataset.value;
  } else {
    place.dataset.value = String(value);
  }
}

/** Shows figures in a list of terms: each has a key, a title, a value, and how it is written. */
export function tiles(id, figures) {
  const list = document.getElementById(id);
  for (const figure of figures) {
    const known = list.querySelector(`[data-key="${figure.key}"]`);
    const tile = known ?? list.appendChild(tileOf(figure));
    const value = tile.querySelector('dd');
    value.textContent = figure.shown;
    exact(value, figure.value);
    const meter = tile.querySelector('meter');
    if (meter) {
      meter.value = figure.share ?? 0;
    }
    tile.querySelector('.more').textContent = figure.more ?? '';
    tile.classList.toggle('bad', Boolean(figure.bad));
  }
}

function tileOf(figure) {
  const tile = element('div', '', { 'data-key': figure.key });
  tile.append(element('dt', figure.title), element('dd'));
  if (figure.share !== undefined) {
    const rest = element('dd', '', { class: 'meter' });
    rest.append(element('meter', '', { min: '0', max: '1', 'aria-label': `${figure.title}, share` }));
    tile.append(rest);
  }
  tile.append(element('dd', '', { class: 'more' }));
  return tile;
}
