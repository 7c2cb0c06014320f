import { Images, SearchX } from 'lucide-react';
import { Link } from 'react-router';
import { EmptyState } from '@/components/empty-state.tsx';
import { Button } from '@/components/ui/button.tsx';

export function EmptyHistory() {
  return (
    <EmptyState
      icon={Images}
      title="Your images will be here"
      action={
        <div className="flex flex-wrap justify-center gap-2">
          <Button asChild>
            <Link to="/playground">Open the playground</Link>
          </Button>
          <Button asChild variant="outline">
            <Link to="/quickstart">Read the quickstart</Link>
          </Button>
        </div>
      }
    >
      This license has made no image in the last 90 days. Make the first one in the playground, or with a few
      lines of code.
    </EmptyState>
  );
}

export function NoMatch({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState
      icon={SearchX}
      title="No request matches these filters"
      action={
        <Button variant="outline" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      Choose other filters, or clear them to see every request of this license.
    </EmptyState>
  );
}
