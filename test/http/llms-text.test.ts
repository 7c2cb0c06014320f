import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { lexer, walkTokens, type Token, type Tokens } from 'marked';
import { routes } from '../../shared/routes/routes.ts';
import { openImage } from '../support/png.ts';
import { newAccount, service } from './fixture.ts';

const { baseUrl, dashboardUrl } = service.ready;
const address = new URL('/llms.txt', dashboardUrl).href;

async function read(url: string) {
  const answer = await fetch(url);
  const page = await answer.text();
  const links: string[] = [];
  // What is written as an address alone is no link.
  const isLink = ({ type, raw }: Token) => type === 'link' && raw.startsWith('[');
  walkTokens(
    lexer(page),
    (token) => void (isLink(token) && links.push(new URL((token as Tokens.Link).href, url).href)),
  );
  return { url, status: answer.status, page, links: links.map((link) => link.replace(/#.*/, '')) };
}

test('/llms.txt has the form of llmstxt.org, and names every endpoint with what it does and who may call it', async () => {
  const { page } = await read(address);
  const [title, summary, ...rest] = lexer(page).filter(({ type }) => type !== 'space');
  expect([title!.type, (title as Tokens.Heading).depth, summary!.type]).toEqual(['heading', 1, 'blockquote']);
  const sections = rest.slice(rest.findIndex(({ type }) => type === 'heading'));
  expect(sections.map(({ type }) => type)).toEqual(['heading', 'list', 'heading', 'list']);
  for (const list of sections.filter(({ type }) => type === 'list') as Tokens.List[])
    for (const { text: item } of list.items) expect(item).toMatch(/^\[[^\]]+\]\(https?:[^)]+\): \S/);
  const named = page.match(/^- `.*$/gm)!.map((line) => /^- `(\S+ \S+)` \([\w ]+\): \S/.exec(line)![1]);
  expect(named.sort()).toEqual(
    Object.values(routes)
      .map(({ method, path }) => `${method} ${path}`)
      .sort(),
  );
  expect(page).toContain(`at ${baseUrl}/mcp`);
});

test('its first image is made by whoever pastes it', async () => {
  const { page } = await read(address);
  const { key, expectCharged } = await newAccount();
  const sample = lexer(page).find(({ type }) => type === 'code') as Tokens.Code;
  const { PATH } = process.env;
  const child = spawn('bash', ['-euc', sample.text], { env: { PATH, IMAGE_API_KEY: key } });
  await openImage((await text(child.stdout)).trim());
  await expectCharged(1);
});

test('what it links to is there, and so is what those pages link to', async () => {
  const seen = new Set([address]);
  for (const url of seen) {
    const { status, page, links } = await read(url);
    expect([url, status]).toEqual([url, 200]);
    if (!/\.(md|txt)$/.test(url)) continue;
    expect(page).toMatch(/^# /);
    const own = links.filter((link) => [dashboardUrl, baseUrl].some((base) => link.startsWith(base)));
    for (const link of own) seen.add(link);
  }
  expect([...seen].filter((url) => url.endsWith('.md')).length).toBeGreaterThan(10);
});
