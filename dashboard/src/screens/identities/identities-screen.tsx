import { Images } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation, useNavigationType, useSearchParams } from 'react-router';
import { useAccountIdentities } from '@/api/queries.ts';
import type { IdentityAnswer, LicenseAnswer } from '@/lib/types.ts';
import { IdentityPicture } from '@/components/pictures.tsx';
import { Loading, Skeleton } from '@/components/loading.tsx';
import { EmptyState, Loaded, ManagerLinks } from '@/components/states.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Input } from '@/components/ui/input.tsx';
import { Page } from '@/layout/page.tsx';
import { formatCount } from '@/lib/format.ts';
import { useLicenseChoice } from '@/license/license-choice.ts';
import { IdentityBadges } from './identity-badges.tsx';
import { hasWords, licensesWith } from './included.ts';

const grid = 'grid grid-cols-1 gap-4 sm:grid-cols-2 sm:gap-6 xl:grid-cols-3 min-[100rem]:grid-cols-4';

export default function IdentitiesScreen() {
  return (
    <Page
      wide
      title="Identities"
      description="Creator systems with a style of their own. Each decides what your images look like."
    >
      <Loaded
        query={useAccountIdentities()}
        skeleton={
          <Loading label="Loading identities" className={grid}>
            {Array.from({ length: 6 }, (_, i) => (
              <Skeleton key={i} className="aspect-4/3 rounded-lg" />
            ))}
          </Loading>
        }
      >
        {(identities) => <Gallery identities={identities} />}
      </Loaded>
    </Page>
  );
}

function Gallery({ identities }: { identities: IdentityAnswer[] }) {
  const { license, licenses } = useLicenseChoice();
  const { search, onlyPhotos, choose } = useFilters();
  const shown = identities.filter(
    (identity) => (!onlyPhotos || identity.productPhotos) && hasWords(identity, search),
  );
  return (
    <>
      <div role="search" aria-label="Filters" className="mb-4 flex flex-wrap items-center gap-2">
        <Input
          type="search"
          aria-label="Words of an identity"
          placeholder="Name, description or trigger word"
          value={search}
          onChange={({ target }) => choose({ search: target.value, onlyPhotos })}
          className="sm:max-w-xs"
        />
        <Button
          variant={onlyPhotos ? 'default' : 'outline'}
          aria-pressed={onlyPhotos}
          onClick={() => choose({ search, onlyPhotos: !onlyPhotos })}
        >
          Takes product photos
        </Button>
        <p role="status" className="ml-auto text-xs text-muted-foreground tabular-nums">
          {formatCount(shown.length, 'identity', 'identities')}
        </p>
      </div>
      {shown.length === 0 ? (
        <NothingToShow search={search} onlyPhotos={onlyPhotos} />
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

interface Filters {
  search: string;
  onlyPhotos: boolean;
}

/** They stand in the address. What is typed is shown at once, and the address follows, in the place of the one before. */
function useFilters(): Filters & { choose: (filters: Filters) => void } {
  const [query, setQuery] = useSearchParams();
  const [search, setSearch] = useState(query.get('search') ?? '');
  const isTyped = useNavigationType() === 'REPLACE';
  const { key } = useLocation();
  const [shownKey, setShownKey] = useState(key);
  if (key !== shownKey) {
    setShownKey(key);
    // A link or Back led to another address.
    if (!isTyped) setSearch(query.get('search') ?? '');
  }
  const choose = (next: Filters): void => {
    setSearch(next.search);
    const words = next.search.trim();
    setQuery({ ...(words && { search: words }), ...(next.onlyPhotos && { photos: '1' }) }, { replace: true });
  };
  return { search, onlyPhotos: query.get('photos') === '1', choose };
}

function NothingToShow({ search, onlyPhotos }: Filters) {
  return onlyPhotos || search !== '' ? (
    <EmptyState icon={Images} title="No identity matches">
      Try other words{onlyPhotos && ', or show also those that take no product photos'}.
    </EmptyState>
  ) : (
    <EmptyState icon={Images} title="No identity to show" action={<ManagerLinks />}>
      Your licenses include no identity yet. Ask whoever manages your subscription.
    </EmptyState>
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
        <h2 dir="auto" className="text-base font-semibold break-words">
          <Link to={`/identities/${id}`} className="rounded-sm after:absolute after:inset-0 after:rounded-lg">
            {name}
          </Link>
        </h2>
        <p dir="auto" className="text-pretty text-muted-foreground">
          {description}
        </p>
        <IdentityBadges identity={identity} />
        {names !== '' && (
          <p className="text-xs text-muted-foreground">
            {isIncluded ? 'In ' : 'Not in the chosen license, but in '}
            <bdi>{names}</bdi>
          </p>
        )}
      </div>
    </article>
  );
}
