import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Where a service's data folder holds a text: its `table`, its `objects`, its `service.log`. */
export function placesOf(dataDir: string, text: string): string[] {
  const holds = (path: string) => statSync(path).isFile() && readFileSync(path).includes(text);
  return ['objects', 'service.log', 'table'].filter((place) =>
    [join(dataDir, place), ...globSync(join(dataDir, place, '**'))].some(holds),
  );
}
