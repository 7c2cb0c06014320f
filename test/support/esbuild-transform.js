import { createHash } from 'node:crypto';
import { transformSync } from 'esbuild';

/** Types are stripped, nothing is bundled: `tsc` checks them in `npm run typecheck`. */
export default {
  getCacheKey: (source, path) => createHash('sha256').update(path).update('\0').update(source).digest('hex'),
  process: (source, path) => {
    const { code } = transformSync(source, {
      loader: 'ts',
      format: 'esm',
      target: 'node24',
      sourcefile: path,
      sourcemap: 'inline',
    });
    return { code };
  },
};
