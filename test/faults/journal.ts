import { appendFileSync, existsSync, readFileSync } from 'node:fs';

type Counts = Record<string, number>;

interface Entry {
  /** Of the code that was played: what another version saw counts for nothing. */
  version: string;
  from: number;
  count: number;
  counts: Counts;
}

export type Journal = ReturnType<typeof openJournal>;

/** What a long run has played so far, so that it can be interrupted and go on. */
export function openJournal(file: string, version: string) {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const entries = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry);
  const known = new Map(
    entries
      .filter((entry) => entry.version === version)
      .map(({ from, count, counts }) => [`${from} ${count}`, counts]),
  );
  return {
    find: (from: number, count: number): Counts | undefined => known.get(`${from} ${count}`),
    write(from: number, count: number, counts: Counts): void {
      appendFileSync(file, `${JSON.stringify({ version, from, count, counts } satisfies Entry)}\n`);
    },
  };
}
