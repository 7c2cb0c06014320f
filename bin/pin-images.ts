import { fileURLToPath } from 'node:url';
import { imagesWithoutDigest, pinImages } from './release/images.ts';

const usage = `npm run pin-images [-- --check]

Writes the digest of every base image behind its tag, as the image's registry names it now: for a release.
With --check it only says which images have none, and exits with 1 if any has none.`;

async function run(root: string, [option, ...others]: string[]): Promise<number> {
  if (option === '--check') {
    const missing = imagesWithoutDigest(root);
    missing.forEach((sentence) => console.error(sentence));
    return missing.length === 0 ? 0 : 1;
  }
  if (option !== undefined) {
    console.log(usage);
    return option === '--help' && others.length === 0 ? 0 : 2;
  }
  (await pinImages(root)).forEach((image) => console.log(image));
  return 0;
}

try {
  process.exitCode = await run(fileURLToPath(new URL('..', import.meta.url)), process.argv.slice(2));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
