import { existsSync } from 'node:fs';

/** Where Debian and others put Chromium; CHROMIUM names another. Empty when there is none. */
export const chromiumPath =
  [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
    (path) => path && existsSync(path),
  ) ?? '';
