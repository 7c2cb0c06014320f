import { typeLabels } from './outputs.ts';
import type { StoredGeneration } from './types.ts';

const columns = [
  'request id',
  'created',
  'completed',
  'status',
  'type',
  'identity',
  'key',
  'width',
  'height',
  'outputs',
  'credits',
  'error code',
  'prompt',
  'negative prompt',
  'seed',
  'steps',
  'guidance scale',
  'format',
  'identity version',
  'processing ms',
];

/** Requests with their prompts and parameters. @param names of keys, by their ids, as far as they are known */
export function requestsCsv(
  requests: readonly StoredGeneration[],
  names: ReadonlyMap<string, string> = new Map(),
): string {
  return csvFile([[...columns], ...requests.map((one) => rowOf(one, names))]);
}

function rowOf(one: StoredGeneration, names: ReadonlyMap<string, string>): Cell[] {
  return [
    one.id,
    one.createdAt,
    one.completedAt ?? '',
    one.status,
    typeLabels[one.type] ?? one.type,
    one.identity.name,
    // A key that was removed has no name left.
    one.keyId === null ? 'playground' : (names.get(one.keyId) ?? one.keyId),
    one.width,
    one.height,
    one.numOutputs,
    one.creditsCharged,
    one.errorCode ?? '',
    one.prompt,
    one.negativePrompt,
    one.seed,
    one.steps,
    one.cfgScale,
    one.outputFormat,
    one.modelVersion ?? '',
    one.processingTimeMs ?? '',
  ];
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
