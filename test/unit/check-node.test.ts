import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

/** Runs a program of one line, after the check, in a Node.js that takes itself for another. */
function run(version: string, platform: string) {
  const program = `
    Object.defineProperty(process.versions, 'node', { value: '${version}' });
    Object.defineProperty(process, 'platform', { value: '${platform}' });
    require('./bin/check-node.cjs');
    console.log('began');`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--eval', program], {
    cwd: new URL('../..', import.meta.url),
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('Node.js 24 and newer begin', () => {
  expect(run('24.0.0', 'darwin')).toEqual({ status: 0, stdout: 'began\n', stderr: '' });
  expect(run('26.1.0', 'linux')).toMatchObject({ status: 0, stdout: 'began\n' });
});

test.each([
  ['darwin', 'install it, as with "brew install node@24"'],
  ['linux', 'run "npm ci", which brings it'],
])('on %s an older one ends with what to do, before anything fails', (platform, remedy) => {
  const { status, stdout, stderr } = run('20.20.2', platform);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^error: Node\.js 24 is needed, and this is 20\.20\.2: .*\n$/);
  expect(stderr).toContain(remedy);
});
