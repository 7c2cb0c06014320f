import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import type { StoredGeneration } from '@/api/types.ts';
import { Button } from '@/components/ui/button.tsx';
import { useListSearch } from './back-to-list.tsx';
import { DeleteDialog } from './delete-dialog.tsx';

/** Deletes the request of the page, and goes back to the list. */
export function DeleteButton({ generation }: { generation: StoredGeneration }) {
  const [open, setOpen] = useState(false);
  const cameFromList = useListSearch() !== null;
  const navigate = useNavigate();
  const leave = (): void => {
    setOpen(false);
    // Like the link to the list: the place in it is found again.
    if (cameFromList) void navigate(-1);
    else void navigate('/history', { replace: true });
  };
  return (
    <>
      <Button variant="outline" onClick={() => setOpen(true)}>
        <Trash2 aria-hidden />
        {/* Phones have no room for three names in a row. */}
        <span className="max-sm:sr-only">Delete</span>
      </Button>
      {open && (
        <DeleteDialog
          requests={[generation]}
          onClose={() => setOpen(false)}
          onEnded={({ failures }) => failures.length === 0 && leave()}
        />
      )}
    </>
  );
}
