import { ArrowLeft } from 'lucide-react';
import { Link } from 'react-router';
import { Button } from '@/components/ui/button.tsx';

/** Above a wide `Page`: the way to the list that it belongs to. */
export function BackLink({ to, children }: { to: string; children: string }) {
  return (
    <div className="mx-auto mb-2 w-full max-w-[100rem]">
      <Button asChild variant="ghost" size="sm" className="-ml-3 text-muted-foreground">
        <Link to={to}>
          <ArrowLeft aria-hidden />
          {children}
        </Link>
      </Button>
    </div>
  );
}
