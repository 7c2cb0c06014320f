import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { ServerResponse } from 'node:http';

/** Where the sign-in pages have their font, which is the dashboard's. */
export const fontPath = '/login/inter.woff2';
const fontFile = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2';

/** Without the dashboard's packages there is no font, and the pages take the system's. */
export async function sendFont(res: ServerResponse): Promise<void> {
  try {
    const content = await readFile(createRequire(import.meta.url).resolve(fontFile));
    res
      .writeHead(200, { 'content-type': 'font/woff2', 'cache-control': 'public, max-age=86400' })
      .end(content);
  } catch {
    res.writeHead(404).end();
  }
}

/** The one style sheet of the sign-in pages, on a grid of 8 px; both colour schemes meet WCAG AA. */
export const styles = `
@font-face {
  font-family: 'Inter Variable'; font-weight: 100 900; font-display: swap;
  src: url('${fontPath}') format('woff2');
}
:root {
  color-scheme: light dark;
  --page: light-dark(#fafaf9, #0f0f0e); --card: light-dark(#fff, #161615); --line: light-dark(#e4e4e2, #2a2a29);
  --field: light-dark(#8b8b88, #6f6f6c); --text: light-dark(#171716, #f0efed); --quiet: light-dark(#5c5b58, #a5a4a1);
  --button-hover: light-dark(#3f3f3d, #d4d4d2); --button-text: light-dark(#fafaf9, #171716); --error: light-dark(#b3261e, #ff8f85);
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  display: grid; place-items: start center; min-height: 100vh; min-height: 100dvh; margin: 0;
  background: var(--card); color: var(--text);
  font: 400 16px/24px 'Inter Variable', ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif;
  font-feature-settings: 'cv11', 'ss03'; -webkit-font-smoothing: antialiased;
}
main { width: 100%; max-width: 400px; padding: 32px 24px; overflow-wrap: break-word; }
p { margin: 0 0 24px; }
main > :last-child { margin-bottom: 0; }
h1 { margin: 0 0 24px; font-size: 24px; line-height: 32px; font-weight: 600; letter-spacing: -0.02em; }
.product { display: flex; align-items: center; gap: 8px; margin-bottom: 48px; font-size: 14px; font-weight: 500; }
.mark { width: 32px; height: 32px; }
form { margin: 0; }
label { display: block; margin: 0 0 8px; font-size: 14px; line-height: 16px; font-weight: 500; }
input {
  display: block; width: 100%; height: 48px; margin: 0 0 24px; padding: 0 16px; border: 1px solid var(--field);
  border-radius: 8px; background: transparent; color: inherit; font: inherit;
}
input:focus-visible { border-color: var(--text); outline: 1px solid var(--text); }
input[aria-invalid] { border-color: var(--error); }
input[aria-invalid]:focus-visible { outline-color: var(--error); }
.button {
  display: block; width: 100%; height: 48px; margin: 8px 0 0; padding: 12px 16px; border: 0; border-radius: 8px;
  background: var(--text); color: var(--button-text); font: inherit; font-weight: 500; line-height: 24px;
  text-align: center; text-decoration: none; cursor: pointer;
}
.button:hover { background: var(--button-hover); }
.button:focus-visible { outline: 2px solid var(--text); outline-offset: 2px; }
.error { margin-bottom: 24px; color: var(--error); font-size: 14px; font-weight: 500; }
.note {
  margin: 32px 0 0; padding-top: 24px; border-top: 1px solid var(--line); color: var(--quiet); font-size: 14px;
  text-wrap: pretty;
}
code { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color: var(--text); }
@media (min-width: 560px) {
  body { place-items: center; padding: 32px; background: var(--page); }
  main { max-width: 432px; padding: 40px; border: 1px solid var(--line); border-radius: 16px; background: var(--card); }
  .product { margin-bottom: 40px; }
}
`;
