import { TriangleAlert } from 'lucide-react';
import { Component, type ReactNode } from 'react';
import { Button } from '@/components/ui/button.tsx';
import { NoticePage } from './notice-page.tsx';
import { Page } from './page.tsx';

interface Props {
  /** Shown in place of what failed. */
  fallback: ReactNode;
  /** When it changes, the children are rendered again. The path, for instance. */
  resetKey?: string;
  children: ReactNode;
}

interface State {
  failed: boolean;
  resetKey: string | undefined;
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { failed: false, resetKey: this.props.resetKey };

  static getDerivedStateFromError(): Partial<State> {
    return { failed: true };
  }

  static getDerivedStateFromProps({ resetKey }: Props, state: State): Partial<State> | null {
    return resetKey === state.resetKey ? null : { failed: false, resetKey };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}

const title = 'This page stopped working';
const text =
  'It met a fault, or a newer version of the dashboard was published. Nothing of your account is affected.';

function ReloadButton() {
  return <Button onClick={() => window.location.reload()}>Reload the page</Button>;
}

/** In place of a screen, inside the shell. */
export function ScreenCrash() {
  return (
    <Page title={title}>
      <div className="grid justify-items-start gap-4">
        <p className="flex max-w-xl items-start gap-3 text-muted-foreground">
          <TriangleAlert aria-hidden className="mt-1 size-4 shrink-0" />
          {text}
        </p>
        <ReloadButton />
      </div>
    </Page>
  );
}

/** In place of everything. */
export function AppCrash() {
  return (
    <NoticePage title={title} action={<ReloadButton />}>
      {text}
    </NoticePage>
  );
}
