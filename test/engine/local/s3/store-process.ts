import { bucket, credentials, region, startS3 } from './support.ts';

/** A store in a process of its own, for a test to kill: prints its address and serves the folder that it is given. */
const [folder = ''] = process.argv.slice(2);
const { url } = await startS3({ folder, bucketName: bucket, credentials, region });
console.log(url);
