import { Link } from 'react-router';
import { Button } from '@/components/ui/button.tsx';
import { Page } from './page.tsx';

export function NotFound() {
  return (
    <Page title="There is no such page" description="The address may be mistyped, or the page has moved.">
      <Button asChild>
        <Link to="/">Go to the overview</Link>
      </Button>
    </Page>
  );
}
