import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { Command, CommanderError } from 'commander';
import { buildProgram } from '../../../bin/admin/program.ts';
import { inRepository } from '../../support/repository.ts';

/** What the words in capitals stand for. */
const sample: Record<string, string> = {
  REQUEST: '019aa3c2-7b1e-7c55-9d0c-3b8f6f0e2a41',
  KEY: `key_${'0'.repeat(32)}`,
  MAIL: 'ada@example.com',
  ADDRESS: 'ada@example.com',
  'lic_…': 'lic_1',
  TIER: 'pro',
  NUMBER: '5',
  N: '5',
};

const files = globSync(['README.md', 'docs/*.md', 'docs/api/*.md'], { cwd: inRepository('.') });
const typed = files.flatMap((file) => {
  const text = readFileSync(inRepository(file), 'utf8')
    .replaceAll(/\\\n\s*/g, '')
    .replaceAll(/\$\(sha256sum[^)]*\)/g, '0'.repeat(64));
  // In words, in a block of its own, or after another command.
  const found = [
    ...text.matchAll(/`(?:npm run (?:--silent )?admin --|admin) ([^`]+)`/g),
    ...text.matchAll(/^\s*(?:npm run (?:--silent )?admin --|admin) ([^`\n]+)$/gm),
  ];
  return found.map(([, words = '']) => [file, words.replace(/\s+(#|[|>]).*$/, '').trim()] as const);
});

function withoutActions(command: Command): Command {
  command.action(() => {}).configureOutput({ outputError: () => {} });
  for (const each of command.commands) withoutActions(each);
  return command;
}

test('the docs name commands of the operator’s CLI with the options that they have', async () => {
  expect(typed.length).toBeGreaterThan(60);
  for (const [file, words] of typed) {
    if (words.includes('--help')) continue;
    const args = words.match(/"[^"]*"|'[^']*'|\S+/g)!.map((word) => word.replaceAll(/^["']|["']$/g, ''));
    const program = withoutActions(buildProgram());
    const mistake = await program
      .parseAsync(
        args.map((word) => sample[word] ?? word),
        { from: 'user' },
      )
      .then(
        () => null,
        (error: CommanderError) => error,
      );
    // A sentence may only name a command.
    const isOnlyNamed = /^[a-z -]+$/.test(words) && mistake?.code.startsWith('commander.missing');
    expect([file, words, isOnlyNamed ? undefined : mistake?.message]).toEqual([file, words, undefined]);
  }
});
