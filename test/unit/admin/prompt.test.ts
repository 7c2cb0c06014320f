import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { confirmReduction } from '../../../bin/admin/command.ts';

const reduction = { what: 'revoke the key key_1 for good', losses: ['"my\u001b[2Japp" will be refused'] };

const terminal = (isTTY: boolean) => ({
  input: Object.assign(new PassThrough(), { isTTY }),
  output: new PassThrough(),
});

async function answering(text: string | null): Promise<{ refusal: string | null; shown: string }> {
  const { input, output } = terminal(true);
  const asked = confirmReduction(reduction, 'the table t in eu-west-1', { input, output });
  if (text === null) input.end();
  else input.write(text);
  const refusal = await asked.then(
    () => null,
    (error: Error) => error.message,
  );
  return { refusal, shown: String(output.read()) };
}

const notConfirmed = 'Nothing was changed: it was not confirmed.';
test.each([
  ...['y\n', ' YES \n'].map((text) => [text, null]),
  ...['n\n', '\n', 'yess\n', null].map((text) => [text, notConfirmed]),
])('the answer %j ends with %j', async (text, refusal) => {
  expect((await answering(text)).refusal).toBe(refusal);
});

test('the question says where, what and who is affected, and obeys nothing in a name', async () => {
  const { shown } = await answering('n\n');
  expect(shown).toContain('On the table t in eu-west-1, this will revoke the key key_1 for good:');
  expect(shown).toContain('  - "my?[2Japp" will be refused');
});

test('nobody is asked where there is no terminal', async () => {
  const silent = terminal(false);
  await expect(confirmReduction(reduction, 'anywhere', silent)).rejects.toThrow(
    'Nothing was changed: add --yes to revoke the key key_1 for good',
  );
  expect(silent.output.read()).toBeNull();
});
