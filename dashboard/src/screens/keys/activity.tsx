import { useId } from 'react';
import { useActivity } from '@/api/queries.ts';
import type { ActivityItem } from '@/lib/types.ts';
import { Loading } from '@/components/loading.tsx';
import { Loaded, More } from '@/components/states.tsx';
import { Time } from '@/components/time.tsx';
import { useLicense } from '@/license/license-choice.ts';
import { activityText } from './activity-view.ts';

/** Who changed the chosen license and its keys: what an owner looks at when a key does not work any more. */
export function Activity() {
  const { licenseId, name } = useLicense();
  const list = useActivity(licenseId);
  const titleId = useId();
  return (
    <section aria-labelledby={titleId} className="mt-12 grid grid-cols-1 gap-4">
      <div className="grid gap-1">
        <h2 id={titleId} className="text-base font-semibold">
          Activity
        </h2>
        <p className="text-muted-foreground">
          Who changed the license <bdi className="font-medium wrap-anywhere">{name}</bdi> and its keys, in the
          last 400 days.
        </p>
      </div>
      <Loaded query={list} skeleton={<Loading label="Loading the activity" bars={['h-32']} />}>
        {(items) =>
          items.length === 0 ? (
            <p>Nothing was changed.</p>
          ) : (
            <ul className="divide-y divide-border rounded-lg border border-border bg-card">
              {items.map((item) => (
                <Entry key={item.id} item={item} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <More list={list} labels={['Show more', 'Loading more']} />
    </section>
  );
}

function Entry({ item }: { item: ActivityItem }) {
  const { what, details } = activityText(item);
  return (
    <li className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1 px-4 py-3">
      <p className="min-w-0 wrap-anywhere">
        {what}
        {item.keyName !== null && (
          <>
            {' '}
            “<bdi>{item.keyName}</bdi>”
          </>
        )}
        {details.length > 0 && <span className="text-muted-foreground">: {details.join(', ')}</span>}
      </p>
      <Time iso={item.at} relative className="text-xs whitespace-nowrap text-muted-foreground" />
    </li>
  );
}
