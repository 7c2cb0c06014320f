/** CSV as RFC 4180 has it: lines end with CR LF, and cells are quoted where they must be. */

export type Cell = string | number;

/** Spreadsheets know UTF-8 by it. */
const byteOrderMark = '\uFEFF';

/** A file with a byte order mark. */
export function csvFile(rows: readonly (readonly Cell[])[]): string {
  return byteOrderMark + rows.map(csvLine).join('');
}

function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell): string {
  const text = typeof cell === 'number' ? String(cell) : withoutFormula(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * A spreadsheet would compute what begins like a formula, which may send what stands in other cells elsewhere. In many
 * countries it takes full-width signs too, and a semicolon for the comma: it then knows no quotes of ours, and a cell begins
 * behind each semicolon, tab and line break.
 */
export function withoutFormula(text: string): string {
  return text.replace(/(?<=^|[;\t\r\n])(?=[\s"]*[=+\-@＝＋－＠﹦﹢﹣﹫−])/g, "'");
}
