import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import GithubSlugger from 'github-slugger';
import { lexer, walkTokens, type Token, type Tokens } from 'marked';
import { inRepository, repository } from './repository.ts';

/** Every page of the repository, by its path below the root. */
export function pages(): string[] {
  const left = new Set(['node_modules', '.git', '.local', '.stryker', 'dist', 'cdk.out', 'coverage']);
  const below = (folder: string): string[] =>
    readdirSync(inRepository(folder), { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory())
        return left.has(entry.name) || entry.name.startsWith('.venv') ? [] : below(path);
      return entry.name.endsWith('.md') ? [path] : [];
    });
  return below('.').sort();
}

/** What callers of the API read: the code in it is theirs to copy. */
export function apiPages(): string[] {
  return pages().filter((path) =>
    /^(docs\/(api\/.*|errors)|README|clients\/typescript\/README)\.md$/.test(path),
  );
}

export function readPage(path: string): string {
  return readFileSync(inRepository(path), 'utf8');
}

const parsed = new Map<string, Token[]>();

function tokensOf(path: string): Token[] {
  const tokens = parsed.get(path) ?? lexer(readPage(path));
  parsed.set(path, tokens);
  return tokens;
}

/** Every token of a page, those in lists, tables and sentences too. */
function allTokens(path: string): Token[] {
  const all: Token[] = [];
  void walkTokens(tokensOf(path), (token) => void all.push(token));
  return all;
}

/** What `#…` may name on a page. GitHub makes it from the headings. */
function anchorsOf(path: string): Set<string> {
  const slugger = new GithubSlugger();
  const headings = tokensOf(path).filter((token): token is Tokens.Heading => token.type === 'heading');
  return new Set(
    headings.map(({ text }) => slugger.slug(text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/`/g, ''))),
  );
}

/** Where a page's links and images lead, as they are written. */
export function linksOf(path: string): string[] {
  return allTokens(path).flatMap((token) => {
    if (token.type === 'link' || token.type === 'image') return [(token as Tokens.Link | Tokens.Image).href];
    if (token.type !== 'html') return [];
    return [...(token as Tokens.HTML).raw.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, href]) => href!);
  });
}

/** What is wrong with a link of a page; null when it leads somewhere, or out of the repository. */
export function linkProblem(page: string, href: string): string | null {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return null;
  const { pathname, hash } = new URL(href, pathToFileURL(inRepository(page)));
  const target = decodeURIComponent(pathname);
  if (relative(repository, target).startsWith('..')) return 'leads out of the repository';
  if (!existsSync(target)) return 'names no file';
  if (hash === '' || !target.endsWith('.md')) return null;
  return anchorsOf(relative(repository, target)).has(decodeURIComponent(hash.slice(1)))
    ? null
    : 'names no heading';
}

export interface CodeBlock {
  language: string;
  text: string;
  /** The block that comes after it on the page. */
  next: { language: string; text: string } | null;
}

/** The code of a page in its order. */
export function codeBlocks(path: string): CodeBlock[] {
  const blocks = allTokens(path)
    .filter((token): token is Tokens.Code => token.type === 'code')
    .map(({ lang = '', text }) => ({ language: lang, text }));
  return blocks.map((block, i) => ({ ...block, next: blocks[i + 1] ?? null }));
}

/** The cells of the only table below a heading, its first row included, as plain text. */
export function tableBelow(path: string, heading: string): string[][] {
  const tables = sectionTokens(path, heading).filter(
    (token): token is Tokens.Table => token.type === 'table',
  );
  if (tables.length !== 1) throw new Error(`${path} has ${tables.length} tables below “${heading}”`);
  const [{ header, rows }] = tables as [Tokens.Table];
  return [header, ...rows].map((row) => row.map(({ text }) => text.replace(/`/g, '').trim()));
}

/** What stands between a heading and the next one of any level. @throws when there is no such heading. */
export function sectionTokens(path: string, heading: string): Token[] {
  const tokens = tokensOf(path);
  const start = tokens.findIndex((token) => token.type === 'heading' && token.text === heading);
  if (start === -1) throw new Error(`${path} has no heading “${heading}”`);
  const rest = tokens.slice(start + 1);
  const end = rest.findIndex(({ type }) => type === 'heading');
  return end === -1 ? rest : rest.slice(0, end);
}

/** The headings of a page of a level, in their order. */
export function headingsOf(path: string, depth: number): string[] {
  return tokensOf(path).flatMap((token) =>
    token.type === 'heading' && token.depth === depth ? [token.text as string] : [],
  );
}
