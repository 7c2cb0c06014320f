/** Counts in a process of its own, because a function keeps the addresses that it first read. Prints one line of JSON. */
import { measureTableUse } from './table-use.ts';

process.stdout.write(`${JSON.stringify(await measureTableUse())}\n`);
