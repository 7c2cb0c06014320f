import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { repository } from '../../support/repository.ts';

test.each(['admin', 'costs', 'deploy'])(
  '%s --help ends without a complaint when nobody reads it',
  async (program) => {
    // The reader has gone long before the program prints.
    const line = `set -o pipefail; "$0" bin/${program}.ts --help | true`;
    const { stderr } = await promisify(execFile)('bash', ['-c', line, process.execPath], { cwd: repository });
    expect(stderr).toBe('');
  },
);
