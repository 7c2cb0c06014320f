import { appendFileSync } from 'node:fs';
import { enterSmallInternet, type InternetAccess } from './small-internet.ts';

/**
 * With `node --import` of this file, a whole process enters the small internet that SMALL_INTERNET describes (see
 * `preload`). It still reaches its own engines on this machine. Each destination becomes a line of the log.
 */
const { log, ...access } = JSON.parse(process.env.SMALL_INTERNET!) as InternetAccess & { log: string };

enterSmallInternet(access, {
  isAllowed: (host, port) => port !== 443 && (host === 'localhost' || host === '127.0.0.1' || host === '::1'),
  onDestination: (destination) => appendFileSync(log, `${JSON.stringify(destination)}\n`),
});
