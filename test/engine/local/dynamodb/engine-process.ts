import { startDynamoDb } from '../../../../local/dynamodb/engine.ts';

/** Runs the engine on the folder given as argument and prints its URL: a process for the tests to kill. */
const [folder] = process.argv.slice(2);
const { url } = await startDynamoDb({ folder: folder ?? null });
process.stdout.write(`${url}\n`);
