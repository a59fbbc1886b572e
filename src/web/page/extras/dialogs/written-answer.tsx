import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { OpenDialog } from '../../../../client/view/extension-ui.ts';
import type { Reply } from '../../actions/dialogs.ts';
import { isComposing } from '../../composing.ts';
import { useApp } from '../../state/app.ts';

interface WrittenAnswerProps {
  readonly dialog: Extract<OpenDialog, { method: 'input' | 'editor' }>;
  readonly onReply: (reply: Reply) => void;
  readonly cancel: ComponentChildren;
}

/** An answer in words. Enter gives one line, Ctrl and Enter a longer text. */
export function WrittenAnswer({ dialog, onReply, cancel }: WrittenAnswerProps) {
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const { answers } = useApp();
  const first = dialog.method === 'editor' ? (dialog.prefill ?? '') : '';
  const written = answers.get(dialog.id) ?? first;
  const keep = () => answers.set(dialog.id, field.current?.value ?? '');
  const give = () => onReply({ value: field.current?.value ?? '' });
  const press = (event: KeyboardEvent) => {
    const isLine = dialog.method === 'input';
    if (event.key === 'Enter' && !isComposing(event) && (isLine || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (!event.repeat) give();
    }
    // What was written is worth more than a key.
    if (event.key === 'Escape' && !isLine && field.current?.value !== first) event.stopPropagation();
  };
  return (
    <>
      {dialog.method === 'input' ? (
        <input
          ref={field}
          aria-label="Answer"
          placeholder={dialog.placeholder}
          autocomplete="off"
          defaultValue={written}
          onInput={keep}
          onKeyDown={press}
        />
      ) : (
        <textarea ref={field} aria-label="Answer" rows={4} defaultValue={written} onInput={keep} onKeyDown={press} />
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
