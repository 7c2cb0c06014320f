import { startS3 } from '../../../local/s3/server.ts';
import { bucket, credentials, region } from './support.ts';

/** A store in a process of its own, for a test to kill: prints its address and serves the folder that it is given. */
const [folder = ''] = process.argv.slice(2);
const { url } = await startS3({ folder, buckets: [bucket, 'other'], credentials, region });
console.log(url);
