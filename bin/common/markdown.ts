import { padded, widthOf } from './output.ts';

/** A table in Markdown, laid out as Prettier lays it out. Columns whose heading ends in ":" are aligned to the right. */
export function markdownTable(headings: string[], rows: string[][]): string {
  const toTheRight = headings.map((heading) => heading.endsWith(':'));
  const cells = [headings.map((heading) => heading.replace(/:$/, '')), ...rows];
  const widths = headings.map((_, column) => Math.max(3, ...cells.map((row) => widthOf(row[column] ?? ''))));
  const line = (row: string[]) =>
    `| ${widths
      .map((width, column) => padded(row[column] ?? '', width, toTheRight[column] === true))
      .join(' | ')} |`;
  const rule = `| ${widths
    .map((width, column) => (toTheRight[column] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)))
    .join(' | ')} |`;
  return [line(cells[0]!), rule, ...rows.map(line)].join('\n');
}

/** Dollars with a useful number of digits. */
export function dollars(usd: number): string {
  if (usd === 0) return '$0';
  if (usd < 0.000_1) return '< $0.0001';
  if (usd < 0.01) return `$${usd.toFixed(4)}`;
  if (usd < 100) return `$${usd.toFixed(2)}`;
  return `$${grouped(usd)}`;
}

export function grouped(number: number): string {
  return Math.round(number).toLocaleString('en-US');
}

/** A quantity to three significant digits, whole from 100 on. */
export function amount(number: number): string {
  return number >= 100 ? grouped(number) : String(Number(number.toPrecision(3)));
}

export function percent(share: number): string {
  if (share < 0.001) return '< 0.1%';
  return `${Number((share * 100).toPrecision(share < 0.1 ? 2 : 3))}%`;
}
