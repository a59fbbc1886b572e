import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { OpenDialog } from '../../../../client/shown.ts';
import type { Reply } from '../../actions/dialogs.ts';

interface WrittenAnswerProps {
  readonly dialog: Extract<OpenDialog, { method: 'input' | 'editor' }>;
  readonly onReply: (reply: Reply) => void;
  readonly cancel: ComponentChildren;
}

/** An answer in words. Enter gives one line, Ctrl and Enter a longer text. */
export function WrittenAnswer({ dialog, onReply, cancel }: WrittenAnswerProps) {
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const give = () => onReply({ value: field.current?.value ?? '' });
  const press = (event: KeyboardEvent) => {
    const isLine = dialog.method === 'input';
    if (event.key === 'Enter' && !event.isComposing && (isLine || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      give();
    }
    // What was written is worth more than a key.
    if (event.key === 'Escape' && !isLine && field.current?.value !== (dialog.prefill ?? '')) event.stopPropagation();
  };
  return (
    <>
      {dialog.method === 'input' ? (
        <input ref={field} aria-label="Answer" placeholder={dialog.placeholder} autocomplete="off" onKeyDown={press} />
      ) : (
        <textarea ref={field} aria-label="Answer" rows={4} defaultValue={dialog.prefill ?? ''} onKeyDown={press} />
      )}
      <div class="dialog-foot">
        {cancel}
        <button type="button" class="main" onClick={give}>
          Answer
        </button>
      </div>
    </>
  );
}
