import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setVersion, wrongVersions } from './release/versions.ts';

const usage = `npm run set-version -- VERSION

Writes a version, as 1.2.3, into every file that names it: the service and its clients are released together.
With --check VERSION it only says which files name another one, and exits with 1 if any does.`;

function run(root: string): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { check: { type: 'string' }, help: { type: 'boolean', default: false } },
  });
  if (values.check !== undefined) {
    const wrong = wrongVersions(root, values.check);
    wrong.forEach((sentence) => console.error(sentence));
    return wrong.length === 0 ? 0 : 1;
  }
  const [version, ...others] = positionals;
  if (values.help || version === undefined || others.length > 0) {
    console.log(usage);
    return values.help ? 0 : 2;
  }
  setVersion(root, version);
  return 0;
}

process.exitCode = run(fileURLToPath(new URL('..', import.meta.url)));
