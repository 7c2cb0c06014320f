import { Info } from 'lucide-react';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert.tsx';
import { Button } from '@/components/ui/button.tsx';
import { shortId } from '@/lib/format.ts';
import { useLicenseChoice } from '@/license/license-context.tsx';

/** Says so when a request belongs to another license than the selected one: a link to it opens all the same. */
export function OtherLicense({ licenseId }: { licenseId: string }) {
  const { license, licenses, select } = useLicenseChoice();
  const own = licenses.find((item) => item.licenseId === licenseId);
  if (own === undefined || license?.licenseId === licenseId) return null;
  const choose = (): void => {
    select(licenseId);
    // The button that was pressed goes away with the notice.
    document.querySelector('h1')?.focus();
  };
  return (
    <Alert className="mb-6">
      <Info aria-hidden />
      <AlertTitle>
        This request belongs to another license: {own.tier} {shortId(licenseId)}
      </AlertTitle>
      <AlertDescription className="grid justify-items-start gap-3">
        <p className="text-muted-foreground">Using it again charges the license that is selected.</p>
        <Button variant="outline" size="sm" onClick={choose}>
          Select {own.tier} {shortId(licenseId)}
        </Button>
      </AlertDescription>
    </Alert>
  );
}
