import {
  AlertDialog,
  AlertDialogContent,
  AlertDialogDescription,
  AlertDialogFooter,
  AlertDialogHeader,
  AlertDialogTitle,
} from '@/components/ui/alert-dialog.tsx';
import { Button } from '@/components/ui/button.tsx';
import { useSession } from './session-context.ts';

/** Over the page and not instead of it: leaving at once would lose what was typed. */
export default function SessionEndedDialog() {
  const session = useSession();
  const signIn = (): void => {
    const { pathname, search, hash } = window.location;
    void session.signIn(`${pathname}${search}${hash}`);
  };
  return (
    <AlertDialog open>
      <AlertDialogContent onEscapeKeyDown={(event) => event.preventDefault()}>
        <AlertDialogHeader>
          <AlertDialogTitle>Your session has ended</AlertDialogTitle>
          <AlertDialogDescription>Sign in again to go on; you come back to this page.</AlertDialogDescription>
        </AlertDialogHeader>
        <AlertDialogFooter>
          <Button onClick={signIn}>Sign in again</Button>
        </AlertDialogFooter>
      </AlertDialogContent>
    </AlertDialog>
  );
}
