import { Plus } from 'lucide-react';
import { Link } from 'react-router';
import { CodeBlock } from '@/components/code-block.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Step } from './step.tsx';

export function CreateKeyStep() {
  return (
    <Step number={1} title="Create a key" half>
      <p className="max-w-2xl text-pretty">
        A key stands for your license: requests with it use its identities and its credits. It is shown once,
        when it is made, so have a safe place ready.
      </p>
      <Button asChild className="w-fit">
        <Link to="/keys?new=1">
          <Plus aria-hidden />
          Create key
        </Link>
      </Button>
    </Step>
  );
}

export function ExportStep() {
  return (
    <Step number={2} title="Put it into your shell" half>
      <p className="max-w-2xl text-pretty">
        Every sample reads the key from <code>IMAGE_API_KEY</code>, so that it never stands in code. Put your
        own key after the equals sign.
      </p>
      <CodeBlock code="export IMAGE_API_KEY=svc_live_…" label="line for the shell" />
      <p className="text-xs text-muted-foreground">
        In PowerShell: <code className="wrap-anywhere">$env:IMAGE_API_KEY = &quot;svc_live_…&quot;</code>
      </p>
    </Step>
  );
}
