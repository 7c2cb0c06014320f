import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';

/** The source maps by their bundles, null for files that are no bundles. */
const maps = new Map<string, SourceMap | null>();

/**
 * The place in the sources for a place in a bundle, as `at shared/table/table.ts:12:5` for `at e (/var/task/index.js:1:9)`.
 * A bundle's source map lies beside it and is read when the first error is logged, so that starting costs nothing more.
 * @param frame one line of a stack, without spaces around it. It comes back as it is where there is no map.
 */
export function originalFrame(frame: string): string {
  const [, file, line, column] = /^at (?:.*\()?(\/[^()]+):(\d+):(\d+)\)?$/.exec(frame) ?? [];
  if (file === undefined) return frame;
  const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
  if (entry === undefined || !('originalSource' in entry)) return frame;
  const source = entry.originalSource.replace(/^(\.\.\/)+/, '');
  return `at ${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

function mapOf(file: string): SourceMap | null {
  const known = maps.get(file);
  if (known !== undefined) return known;
  const map = readMap(`${file}.map`);
  maps.set(file, map);
  return map;
}

/** A map that can't be read must not hide the error that is to be logged. */
function readMap(path: string): SourceMap | null {
  try {
    if (!existsSync(path)) return null;
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload);
  } catch {
    return null;
  }
}
