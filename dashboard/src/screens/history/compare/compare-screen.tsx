import { ArrowLeftRight, Columns2 } from 'lucide-react';
import { useId, useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useGeneration } from '@/api/queries.ts';
import type { StoredGeneration } from '@/api/types.ts';
import { Label } from '@/components/field.tsx';
import { EmptyState } from '@/components/states.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Switch } from '@/components/ui/switch.tsx';
import { BackLink } from '@/layout/back-link.tsx';
import { Page } from '@/layout/page.tsx';
import { CompareTable } from './compare-table.tsx';
import { comparedSearch, readCompared, type Compared } from './compared.ts';
import { Side } from './side.tsx';

/** Two stored requests side by side: `?a=` and `?b=` are their ids. */
export default function CompareScreen() {
  const [parameters] = useSearchParams();
  const compared = readCompared(parameters);
  return (
    <>
      <BackLink to="/history">History</BackLink>
      {compared === null ? (
        <Page wide title="Compare">
          <EmptyState
            icon={Columns2}
            title="Two requests are needed"
            action={
              <Button asChild variant="outline">
                <Link to="/history">Choose them in your history</Link>
              </Button>
            }
          >
            This address does not name both requests that it compares.
          </EmptyState>
        </Page>
      ) : (
        <Comparison {...compared} />
      )}
    </>
  );
}

function Comparison({ a, b }: { a: Compared; b: Compared }) {
  const [, setParameters] = useSearchParams();
  const [isFullSize, setFullSize] = useState(false);
  const ofA = useGeneration(a.requestId);
  const ofB = useGeneration(b.requestId);
  const show = (now: { a: Compared; b: Compared }): void =>
    setParameters(comparedSearch(now), { replace: true, preventScrollReset: true });
  const sides = { isFullSize };
  return (
    <Page
      wide
      title="Compare"
      description="Two requests and what is different between them."
      actions={
        <>
          <SwitchField label="Full size" checked={isFullSize} onChange={setFullSize} />
          <Button variant="outline" onClick={() => show({ a: b, b: a })}>
            <ArrowLeftRight aria-hidden />
            Swap
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-1 gap-8">
        <div className="grid grid-cols-1 items-start gap-8 sm:grid-cols-2 sm:gap-6">
          <Side
            {...sides}
            name="A"
            index={a.index}
            query={ofA}
            onShow={(index) => show({ a: { ...a, index }, b })}
          />
          <Side
            {...sides}
            name="B"
            index={b.index}
            query={ofB}
            onShow={(index) => show({ a, b: { ...b, index } })}
          />
        </div>
        {ofA.data !== undefined && ofB.data !== undefined && (
          <Differences a={{ ...a, generation: ofA.data }} b={{ ...b, generation: ofB.data }} />
        )}
      </div>
    </Page>
  );
}

type Loaded = Compared & { generation: StoredGeneration };

function Differences({ a, b }: { a: Loaded; b: Loaded }) {
  const [isShort, setShort] = useState(false);
  return (
    <CompareTable
      a={a}
      b={b}
      onlyDifferences={isShort}
      control={<SwitchField label="Only differences" checked={isShort} onChange={setShort} />}
    />
  );
}

interface SwitchFieldProps {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}

function SwitchField({ label, checked, onChange }: SwitchFieldProps) {
  const id = useId();
  return (
    <span className="flex min-h-10 items-center gap-2">
      <Switch id={id} checked={checked} onCheckedChange={onChange} />
      <Label htmlFor={id}>{label}</Label>
    </span>
  );
}
