import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { confirmReduction } from '../../../bin/admin/command.ts';

const reduction = { what: 'revoke the key key_1 for good', losses: ['"my\u001b[2Japp" will be refused'] };

function terminal(isTTY: boolean) {
  const output = new PassThrough();
  return { input: Object.assign(new PassThrough(), { isTTY }), output };
}

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

test.each(['y\n', ' YES \n'])('%j confirms', async (text) => {
  expect((await answering(text)).refusal).toBeNull();
});

test.each(['n\n', '\n', 'yess\n', null])('%j does not confirm', async (text) => {
  expect((await answering(text)).refusal).toBe('Nothing was changed: it was not confirmed.');
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
