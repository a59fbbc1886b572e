import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Icon } from '../icons.tsx';

/** Accepts files dropped anywhere on the page, and shows a hint while they are dragged over it. */
export function DropTarget({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const isOver = useSignal(false);
  useEffect(() => {
    const listeners = new AbortController();
    const { signal } = listeners;
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
      isOver.value = true;
    };
    const leave = ({ relatedTarget }: DragEvent) => {
      if (relatedTarget === null) isOver.value = false;
    };
    const drop = (event: DragEvent) => {
      isOver.value = false;
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      onFiles([...event.dataTransfer.files]);
    };
    document.addEventListener('dragover', over, { signal });
    document.addEventListener('dragleave', leave, { signal });
    document.addEventListener('drop', drop, { signal });
    return () => listeners.abort();
  }, [onFiles]);
  if (!isOver.value) return null;
  return (
    <div class="drop-hint">
      <p>
        <Icon name="attach" />
        Drop images and text files to attach them
      </p>
    </div>
  );
}
