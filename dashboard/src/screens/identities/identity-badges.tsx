import { Camera, CircleSlash } from 'lucide-react';
import type { IdentityAnswer } from '@/lib/types.ts';
import { Badge } from '@/components/ui/card.tsx';

/** What an identity can do, and whether it can be used now. Renders nothing for one that takes prompts only. */
export function IdentityBadges({ identity }: { identity: IdentityAnswer }) {
  const { productPhotos, available } = identity;
  if (!productPhotos && available) return null;
  return (
    <span className="flex flex-wrap gap-2">
      {productPhotos && (
        <Badge variant="outline">
          <Camera aria-hidden />
          Product photos
        </Badge>
      )}
      {!available && (
        <Badge variant="warning">
          <CircleSlash aria-hidden />
          Unavailable
        </Badge>
      )}
    </span>
  );
}
