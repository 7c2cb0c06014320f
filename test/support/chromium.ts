import { existsSync } from 'node:fs';

/**
 * Where Debian and others put Chromium; CHROMIUM names another. Empty when there is none. The headless shell comes first:
 * it has no windows, and a page of it takes about half the processor time.
 */
export const chromiumPath =
  [
    process.env.CHROMIUM,
    '/usr/bin/chromium-headless-shell',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ].find((path) => path && existsSync(path)) ?? '';
