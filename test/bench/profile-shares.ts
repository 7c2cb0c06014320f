import { SourceMap, type SourceMapPayload } from 'node:module';
import { figure } from './report.ts';
import { markdownTable } from '../../bin/costs/tables.ts';

/** As V8 writes it (Chrome DevTools Protocol, Profiler.Profile). */
export interface CpuProfile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number };
  }[];
  samples: number[];
  /** Microseconds between a sample and the one before it. */
  timeDeltas: number[];
}

/** Microseconds by package, of the time in which the process worked. */
export function sharesOf(profile: CpuProfile, map: SourceMapPayload): Map<string, number> {
  const sources = new SourceMap(map);
  const groups = new Map(profile.nodes.map(({ id, callFrame }) => [id, groupOf(callFrame, sources)]));
  const shares = new Map<string, number>();
  for (const [i, id] of profile.samples.entries()) {
    const group = groups.get(id)!;
    if (group !== null) shares.set(group, (shares.get(group) ?? 0) + profile.timeDeltas[i]!);
  }
  return shares;
}

type CallFrame = CpuProfile['nodes'][number]['callFrame'];

/** Null for time in which nothing ran. */
function groupOf(
  { functionName, url, lineNumber, columnNumber }: CallFrame,
  sources: SourceMap,
): string | null {
  if (functionName === '(idle)') return null;
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (/^node:(_?http|internal\/http|_stream|stream|internal\/streams|net|internal\/stream)/.test(url)) {
    return 'Node.js: HTTP, sockets, streams';
  }
  if (/^node:(internal\/)?crypto/.test(url)) return 'Node.js: cryptography';
  if (url.endsWith('/index.js')) {
    const origin = sources.findEntry(lineNumber, columnNumber);
    return 'originalSource' in origin ? packageOf(origin.originalSource) : 'the bundle';
  }
  if (url.startsWith('file:')) return 'the front of this bench';
  return url === '' ? 'native code: sockets, promises, JSON' : 'Node.js: the rest';
}

/** @param source a path, relative to a bundle */
export function packageOf(source: string): string {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1];
  return name ?? "the service's own code";
}

export function sharesTable(shares: Map<string, number>, requests: number): string {
  const all = [...shares].sort(([, a], [, b]) => b - a);
  const total = all.reduce((sum, [, us]) => sum + us, 0);
  const shown = all.filter(([, us]) => us >= total / 100);
  const rest = total - shown.reduce((sum, [, us]) => sum + us, 0);
  return markdownTable(
    ['where', 'share:', 'µs per request:'],
    [...shown, ['everything else', rest] as const].map(([name, us]) => [
      name,
      `${Math.round((us / total) * 100)}%`,
      figure(us / requests),
    ]),
  );
}
