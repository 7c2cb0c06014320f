import { Sparkles } from 'lucide-react';
import { Link } from 'react-router';
import type { StoredGeneration } from '@/api/types.ts';
import { CopyAsMenu } from '@/components/copy-as-menu.tsx';
import { Button } from '@/components/ui/button.tsx';
import { useConfig } from '@/config-context.ts';
import { codeSamples } from '@/lib/code-samples.ts';
import { sampleBody } from './request-view.ts';

const referencesNote = 'Reference images are not stored: put the addresses of yours in, or uploads.';

/** What can be done with a stored request. */
export function RequestActions({ generation }: { generation: StoredGeneration }) {
  const { apiBaseUrl } = useConfig();
  const samples = codeSamples({ apiBaseUrl, body: sampleBody(generation) });
  return (
    <>
      <CopyAsMenu samples={samples} note={generation.type === 'text_to_image' ? undefined : referencesNote} />
      <Button asChild>
        <Link to={`/playground?from=${encodeURIComponent(generation.id)}`}>
          <Sparkles aria-hidden />
          Use again
        </Link>
      </Button>
    </>
  );
}
