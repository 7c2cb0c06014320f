import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const repository = fileURLToPath(new URL('../', import.meta.url));

/** Puts the pages for those who call the API beside the app's files, as Markdown, which `/llms.txt` leads language models to. */
export function apiPages(): Plugin {
  return {
    name: 'api-pages',
    apply: 'build',
    generateBundle() {
      const found = globSync('docs/{errors,api/*}.md', { cwd: repository });
      const paths = found.map((path) => path.replaceAll('\\', '/'));
      for (const fileName of paths) {
        const text = readFileSync(repository + fileName, 'utf8');
        this.emitFile({ type: 'asset', fileName, source: withLinksTo(paths, fileName, text) });
      }
    },
  };
}

/** The text of a page, whose links to files that are not published are their words alone. */
function withLinksTo(published: string[], page: string, text: string): string {
  return text.replace(/\[([^\]]*)\]\((?!https?:|#)([^)#]+)[^)]*\)/g, (link, words, target) =>
    published.includes(posix.join(posix.dirname(page), target)) ? link : words,
  );
}
