import { appendFileSync } from 'node:fs';
import { enterSmallInternet, type InternetAccess } from './small-internet.ts';

/**
 * `node --import` this file, and the whole process lives in the small internet that SMALL_INTERNET describes (see
 * `preloaded`). Its own engines on this machine stay within reach; every destination is written down, one a line.
 */
const { log, ...access } = JSON.parse(process.env.SMALL_INTERNET!) as InternetAccess & { log: string };

enterSmallInternet(access, {
  isAllowed: (host, port) => port !== 443 && (host === 'localhost' || host === '127.0.0.1' || host === '::1'),
  onDestination: (destination) => appendFileSync(log, `${JSON.stringify(destination)}\n`),
});
