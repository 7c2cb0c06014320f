import {
  AlertDialog,
  AlertDialogAction,
  AlertDialogCancel,
  AlertDialogContent,
  AlertDialogDescription,
  AlertDialogFooter,
  AlertDialogHeader,
  AlertDialogTitle,
} from '@/components/ui/alert-dialog.tsx';
import { buttonVariants } from '@/components/ui/button.tsx';

interface CloseWithoutCopyingProps {
  onClose: () => void;
  onStay: () => void;
  /** Called when this dialog is gone and the key is still shown. */
  returnFocus: () => void;
}

/** Asks before a key that nobody has copied is lost. */
export function CloseWithoutCopying({ onClose, onStay, returnFocus }: CloseWithoutCopyingProps) {
  return (
    <AlertDialog open onOpenChange={onStay}>
      <AlertDialogContent
        onCloseAutoFocus={(event) => {
          event.preventDefault();
          returnFocus();
        }}
      >
        <AlertDialogHeader>
          <AlertDialogTitle>Close without copying?</AlertDialogTitle>
          <AlertDialogDescription>
            The key can't be shown again. Without a copy it is of no use, and you would have to create
            another.
          </AlertDialogDescription>
        </AlertDialogHeader>
        <AlertDialogFooter>
          <AlertDialogCancel>Go back</AlertDialogCancel>
          <AlertDialogAction className={buttonVariants({ variant: 'destructive' })} onClick={onClose}>
            Close without copying
          </AlertDialogAction>
        </AlertDialogFooter>
      </AlertDialogContent>
    </AlertDialog>
  );
}
