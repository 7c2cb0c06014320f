import { typeLabels } from './outputs.ts';
import type { StoredGeneration } from './types.ts';

const columns: [
  name: string,
  (one: StoredGeneration, keyNames: ReadonlyMap<string, string>) => Cell | null,
][] = [
  ['request id', ({ id }) => id],
  ['created', ({ createdAt }) => createdAt],
  ['completed', ({ completedAt }) => completedAt],
  ['status', ({ status }) => status],
  ['type', ({ type }) => typeLabels[type] ?? type],
  ['identity', ({ identity }) => identity.name],
  // A key that was removed has no name left.
  ['key', ({ keyId }, names) => (keyId === null ? 'playground' : (names.get(keyId) ?? keyId))],
  ['width', ({ width }) => width],
  ['height', ({ height }) => height],
  ['outputs', ({ numOutputs }) => numOutputs],
  ['credits', ({ creditsCharged }) => creditsCharged],
  ['error code', ({ errorCode }) => errorCode],
  ['prompt', ({ prompt }) => prompt],
  ['negative prompt', ({ negativePrompt }) => negativePrompt],
  ['seed', ({ seed }) => seed],
  ['steps', ({ steps }) => steps],
  ['guidance scale', ({ cfgScale }) => cfgScale],
  ['format', ({ outputFormat }) => outputFormat],
  ['identity version', ({ identityVersion }) => identityVersion],
  ['processing ms', ({ processingTimeMs }) => processingTimeMs],
  ['model version', ({ modelVersion }) => modelVersion],
];

/** Requests with their prompts and parameters. @param names of keys, by their ids, as far as they are known */
export function requestsCsv(
  requests: readonly StoredGeneration[],
  names: ReadonlyMap<string, string> = new Map(),
): string {
  const rows = requests.map((one) => columns.map(([, cellOf]) => cellOf(one, names) ?? ''));
  return csvFile([columns.map(([name]) => name), ...rows]);
}

/** CSV as RFC 4180 has it: lines end with CR LF, and cells are quoted where they must be. */

export type Cell = string | number;

/** Spreadsheets know UTF-8 by it. */
const byteOrderMark = '\uFEFF';

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
