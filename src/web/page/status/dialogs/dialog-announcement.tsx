import { useComputed } from '@preact/signals';
import { PlainText } from '../../../code/plain-text.tsx';
import { oneLine } from '../../../words.ts';
import { keysText } from '../../controls/shortcuts/keyboard.ts';
import { useSession } from '../../state/app.ts';
import { DIALOG_KEYS } from './dialog-focus.ts';

/** Announces the first dialog to screen readers, with its shortcut and the number of further ones. */
export function DialogAnnouncement() {
  const { view } = useSession();
  const title = useComputed(() => view.value.dialogs[0]?.title).value;
  const more = useComputed(() => view.value.dialogs.length - 1).value;
  return (
    <p class="hidden-label" role="status">
      {title !== undefined && (
        <>
          An extension asks: <PlainText text={oneLine(title, 200)} /> ({keysText(DIALOG_KEYS)} leads there)
          {more > 0 && `, and ${more} more`}
        </>
      )}
    </p>
  );
}
