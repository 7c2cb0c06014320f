import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { savedQueries } from '../../lib/constructs/monitoring/saved-queries.ts';
import { metricTable } from '../../shared/base/metrics.ts';
import { inRepository } from '../support/repository.ts';
import { monitored } from './monitored.ts';

const read = (path: string) => readFileSync(inRepository(path), 'utf8');
const runbook = read('docs/runbook.md');
const everything = monitored('everything');
const atZero = monitored('atZero');
const allMatches = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map((match) => match.slice(1));

const [, alarmsPart = ''] = runbook.split('\n## Alarms\n');
const sections = new Map(
  alarmsPart
    .split('\n## ')[0]!
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.split('\n')[0]!, section]),
);

test('has one section for every alarm, and no section without an alarm', () => {
  const anchors = [...everything.alarms.values(), ...atZero.alarms.values()].map(
    ({ AlarmDescription }) => /docs\/runbook\.md#([a-z-]+)$/.exec(AlarmDescription)?.[1],
  );
  expect([...sections.keys()].toSorted()).toEqual([...new Set(anchors)].toSorted());
});

test.each([...sections])('says what to type: %s', (_title, section) => {
  expect(section).toMatch(/`((aws|admin|saved|log|metric|curl) |QUEUE=)[^`]*`|^```/m);
});

test('shows every saved query, word for word', () => {
  for (const query of Object.values(savedQueries).flatMap((queries) => Object.values(queries)))
    expect(runbook).toContain(`\n${query}\n`);
});

test('names saved queries, metrics, logs and resources that are there', () => {
  const queries = Object.values(savedQueries).flatMap((some) => Object.keys(some));
  const metrics = Object.values(metricTable).map(({ name }) => name as string);
  const resources = Object.entries(everything.template.Resources).map(([id, { Type }]) => `${Type} ${id}`);
  const some = (pattern: RegExp) => allMatches(runbook, pattern).map((words) => words.join(' '));
  const saved = some(/`saved ([a-z-]+)/g);
  expect(saved.filter((name) => !queries.includes(name))).toEqual([]);
  const drawn = some(/\bmetric ([A-Z]\w+)/g).filter((name) => name !== 'NAME');
  expect(drawn.filter((name) => !metrics.includes(name))).toEqual([]);
  const logs = [...some(/`log ([A-Z]\w+)/g).map((name) => `${name}Log`), ...some(/ (\w+Log)$/gm)];
  const named = [
    ...some(/resource (\w+::\w+) (\w+)/g).map((words) => `AWS::${words}`),
    ...logs.map((name) => `AWS::Logs::LogGroup ${name}`),
  ];
  expect([saved.length, drawn.length, named.length].every((count) => count > 4)).toBe(true);
  expect(named.filter((start) => !resources.some((one) => one.startsWith(start)))).toEqual([]);
});

describe('its questions to the logs', () => {
  const asked = [
    ...allMatches(runbook, /^```\n(.*?)^```/gms),
    ...allMatches(runbook, /^ask '([^']+)'/gm),
  ].map(([text]) => text!);
  const queries = asked.filter((text) => /^(filter|stats) /.test(text));
  const sources = globSync(['functions/*.ts', 'shared/**/*.ts'], { cwd: inRepository('.') }).map(read);
  const loggers = sources.filter((text) => /\blog(Fields|gableError)?\b/.test(text)).join('\n');
  const accessLog = JSON.stringify(
    Object.values(everything.template.Resources).find(({ Type }) => Type === 'AWS::ApiGateway::Stage'),
  );

  test.each(queries)('have messages and fields that are logged: %s', (query) => {
    for (const [message] of allMatches(query, /message = "([^"]+)"/g))
      expect(loggers).toMatch(new RegExp(`(log\\.\\w+|logRun)\\(\\s*'${message}'`));
    const given = new Set(allMatches(query, / as (\w+)/g).flat());
    const words = query.replace(/"[^"]*"|\/.*\/|@\w+/g, ' ').match(/[a-zA-Z][\w.]*/g)!;
    const fields = words
      .filter((word) => !syntax.has(word) && !given.has(word))
      .map((word) => word.split('.')[0]!);
    const metrics = Object.values(metricTable).map(({ name }) => name as string);
    const isLogged = (field: string) =>
      metrics.includes(field) ||
      new RegExp(`\\b${field}\\??[:,]|\\b${field} }|\\.${field} =`).test(loggers) ||
      accessLog.includes(`\\"${field}\\":`);
    expect(fields.filter((field) => !isLogged(field))).toEqual([]);
  });
});

/** Of CloudWatch Logs Insights. */
const syntax = new Set(
  'filter stats fields sort limit by as and or not like desc asc bin count sum max min coalesce ispresent 1m 5m 15m 1h m h e6'.split(
    ' ',
  ),
);
