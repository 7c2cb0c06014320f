import type { ReactNode } from 'react';
import type { SampleLanguage } from '@/lib/code-samples.ts';

/** How each sample is run, below its code. */
export const runNotes: Record<SampleLanguage, ReactNode> = {
  curl: 'For bash and zsh. In PowerShell, use TypeScript or Python.',
  typescript: (
    <>
      Save it as <code>image.mts</code> and run <code>node image.mts</code>, with Node.js 22.18 or newer.
    </>
  ),
  python: (
    <>
      Save it as <code>image.py</code> and run <code>python3 image.py</code>. It needs no packages.
    </>
  ),
};
