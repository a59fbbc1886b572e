import { useLayoutEffect, useRef } from 'preact/hooks';
import { isComposing } from '../../ime.ts';

interface QueueEditorProps {
  readonly text: string;
  // The reason why it cannot be saved now.
  readonly blockedBy: string | undefined;
  readonly onInput: (text: string) => void;
  readonly onSave: () => void;
  readonly onCancel: () => void;
}

/** Edits a queued message. Enter saves, Shift+Enter adds a line, Escape cancels. */
export function QueueEditor({ text, blockedBy, onInput, onSave, onCancel }: QueueEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, []);
  const maySave = text.trim() !== '' && blockedBy === undefined;
  const onKeyDown = (event: KeyboardEvent) => {
    const isEnter = event.key === 'Enter' && !event.shiftKey;
    if (isComposing(event) || (!isEnter && event.key !== 'Escape')) return;
    event.preventDefault();
    // Neither key must stop the run.
    event.stopPropagation();
    if (!isEnter) onCancel();
    else if (maySave) onSave();
  };
  return (
    <li class="waiting-item editing">
      <textarea
        ref={field}
        aria-label="Queued message"
        rows={1}
        value={text}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <button type="button" class="quiet" onClick={onCancel}>
        Cancel
      </button>
      <button type="button" class="main" title={blockedBy} disabled={!maySave} onClick={onSave}>
        Save
      </button>
    </li>
  );
}
