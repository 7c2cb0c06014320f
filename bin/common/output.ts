/** An answer, for a program and for a person. */
export interface Answer {
  json: Record<string, unknown>;
  text: string;
}

const nothing = '–';

/** A time for people, to the second. */
export function readableTime(ms: number | null): string {
  return ms === null ? nothing : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Labels and their values, one a line. */
export function keyValues(pairs: [label: string, value: string | number | null][]): string {
  const rows = pairs.map(([label, value]) => [label, value === null || value === '' ? nothing : value]);
  return alignedRows(rows);
}

/** Rows under their headings; columns of numbers are aligned to the right. */
export function table(headings: string[], rows: (string | number)[][]): string {
  return alignedRows([headings, ...rows]);
}

/** A row for each item, with what the columns' labels say of it; or a sentence where there are none. */
export function listOf<T>(
  items: readonly T[],
  columns: Record<string, (item: T) => string | number | null>,
  none: string,
): string {
  const rows = items.map((item) => Object.values(columns).map((cell) => cell(item) ?? nothing));
  return rows.length === 0
    ? none
    : table(
        Object.keys(columns).map((label) => label.toUpperCase()),
        rows,
      );
}

function alignedRows(rows: (string | number)[][]): string {
  const cells = rows.map((row) => row.map((value) => printable(String(value))));
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => widthOf(row[column] ?? ''))),
  );
  const isNumeric = widths.map(
    (_, column) => rows.length > 1 && rows.slice(1).every((row) => typeof row[column] === 'number'),
  );
  return cells
    .map((row) => row.map((cell, column) => padded(cell, widths[column] ?? 0, isNumeric[column] === true)))
    .map((row) => row.join('  ').trimEnd())
    .join('\n');
}

/** A cell of a column that is so many code points wide. */
export function padded(cell: string, width: number, toTheRight: boolean): string {
  const space = ' '.repeat(width - widthOf(cell));
  return toTheRight ? space + cell : cell + space;
}

export function widthOf(cell: string): number {
  return [...cell].length;
}

/** Replaces control characters: names and prompts come from customers and must not control the operator's terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, '?');
}

/** A failure's line. Raw keys in it are masked. */
export function errorLine(sentence: string): string {
  const oneLine = printable(sentence.trim().replace(/\s*\n\s*/g, ' '));
  return `error: ${oneLine.replace(/svc_live_[0-9A-Za-z]+/g, 'svc_live_…')}\n`;
}

export { counted } from '../../shared/base/words.ts';
