import { Images } from 'lucide-react';
import { Link, useSearchParams } from 'react-router';
import { useAccountIdentities } from '@/api/account-identities.ts';
import type { IdentityAnswer, LicenseAnswer } from '@/api/types.ts';
import { IdentityPicture } from '@/components/identity-picture.tsx';
import { Loading, Skeleton } from '@/components/loading.tsx';
import { EmptyState, ErrorState } from '@/components/states.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Page } from '@/layout/page.tsx';
import { useLicenseChoice } from '@/license/license-choice.ts';
import { IdentityBadges } from './identity-badges.tsx';
import { licensesWith } from './included.ts';

const grid = 'grid grid-cols-1 gap-4 sm:grid-cols-2 sm:gap-6 xl:grid-cols-3 min-[100rem]:grid-cols-4';

/** Every identity that the account may use, by its pictures. */
export default function IdentitiesScreen() {
  const { data, error, isFetching, refetch } = useAccountIdentities();
  return (
    <Page
      wide
      title="Identities"
      description="Creator systems with a style of their own. Each decides what your images look like."
    >
      {data !== undefined ? (
        <Gallery identities={data} />
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} retrying={isFetching} />
      ) : (
        <Loading label="Loading identities" className={grid}>
          {Array.from({ length: 6 }, (_, i) => (
            <Skeleton key={i} className="aspect-4/3 rounded-lg" />
          ))}
        </Loading>
      )}
    </Page>
  );
}

function Gallery({ identities }: { identities: IdentityAnswer[] }) {
  const [query, setQuery] = useSearchParams();
  const { license, licenses } = useLicenseChoice();
  const onlyPhotos = query.get('photos') === '1';
  const shown = onlyPhotos ? identities.filter(({ productPhotos }) => productPhotos) : identities;
  const toggle = (): void => setQuery(onlyPhotos ? {} : { photos: '1' }, { replace: true });
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <Button
          variant={onlyPhotos ? 'default' : 'outline'}
          size="sm"
          aria-pressed={onlyPhotos}
          onClick={toggle}
        >
          Takes product photos
        </Button>
        <p role="status" className="text-xs text-muted-foreground tabular-nums">
          {shown.length === 1 ? '1 identity' : `${shown.length} identities`}
        </p>
      </div>
      {shown.length === 0 ? (
        <EmptyState icon={Images} title="No identity to show">
          {onlyPhotos
            ? 'None of your identities takes product photos. Show all of them instead.'
            : 'Your licenses include no identity yet. Ask whoever manages your subscription.'}
        </EmptyState>
      ) : (
        <ul role="list" aria-label="Identities" className={grid}>
          {shown.map((identity, i) => (
            <li key={identity.id} className="min-w-0">
              <IdentityCard identity={identity} license={license} licenses={licenses} eager={i < 4} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

interface IdentityCardProps {
  identity: IdentityAnswer;
  license: LicenseAnswer | null;
  licenses: readonly LicenseAnswer[];
  eager: boolean;
}

/** The name is the link, and its area is the whole card. */
function IdentityCard({ identity, license, licenses, eager }: IdentityCardProps) {
  const { id, name, description } = identity;
  const including = licensesWith(identity, licenses);
  const isIncluded = including.some(({ licenseId }) => licenseId === license?.licenseId);
  const names = [...new Set(including.map((one) => one.name))].join(', ');
  return (
    <article className="group relative flex h-full flex-col overflow-hidden rounded-lg border border-border bg-card transition-colors focus-within:border-ring hover:border-input">
      <IdentityPicture identity={identity} eager={eager} className="aspect-4/3 w-full" />
      <div className="grid gap-2 p-4">
        <h2 className="text-base font-semibold break-words">
          <Link to={`/identities/${id}`} className="rounded-sm after:absolute after:inset-0 after:rounded-lg">
            {name}
          </Link>
        </h2>
        <p className="text-pretty text-muted-foreground">{description}</p>
        <IdentityBadges identity={identity} />
        {names !== '' && (
          <p className="text-xs text-muted-foreground">
            {isIncluded ? 'In ' : 'Not in the chosen license, but in '}
            {names}
          </p>
        )}
      </div>
    </article>
  );
}
