import { grouped, markdownTable } from '../../bin/common/markdown.ts';

/** What a part of the bench found, as docs/performance.md shows it. */
export interface Section {
  title: string;
  /** A heading that ends with ":" is that of numbers. */
  headings: string[];
  rows: string[][];
  note?: string;
}

export function sectionText({ title, headings, rows, note }: Section): string {
  const table = `## ${title}\n\n${markdownTable(headings, rows)}\n`;
  return note === undefined ? table : `${table}\n${note}\n`;
}

/** Milliseconds and the like, with as many digits as say something. */
export function figure(value: number): string {
  if (Math.abs(value) >= 100) return grouped(value);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
