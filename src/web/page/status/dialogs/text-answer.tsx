import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { OpenDialog } from '../../../../client/view/extension-ui.ts';
import type { DialogResponse } from '../../actions/dialogs.ts';
import { isComposing } from '../../ime.ts';
import { useApp } from '../../state/app.ts';

interface TextAnswerProps {
  readonly dialog: Extract<OpenDialog, { method: 'input' | 'editor' }>;
  readonly onResponse: (response: DialogResponse) => void;
  readonly cancel: ComponentChildren;
}

/** A text response. Enter sends a line, Ctrl+Enter a longer text. */
export function TextAnswer({ dialog, onResponse, cancel }: TextAnswerProps) {
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const { dialogDrafts } = useApp();
  const initial = dialog.method === 'editor' ? (dialog.prefill ?? '') : '';
  const text = dialogDrafts.get(dialog.id) ?? initial;
  const save = () => dialogDrafts.set(dialog.id, field.current?.value ?? '');
  const submit = () => onResponse({ value: field.current?.value ?? '' });
  const onKeyDown = (event: KeyboardEvent) => {
    const isLine = dialog.method === 'input';
    if (event.key === 'Enter' && !isComposing(event) && (isLine || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (!event.repeat) submit();
    }
    // Escape must not discard typed text.
    if (event.key === 'Escape' && !isLine && field.current?.value !== initial) event.stopPropagation();
  };
  return (
    <>
      {dialog.method === 'input' ? (
        <input
          ref={field}
          aria-label="Answer"
          placeholder={dialog.placeholder}
          autocomplete="off"
          defaultValue={text}
          onInput={save}
          onKeyDown={onKeyDown}
        />
      ) : (
        <textarea ref={field} aria-label="Answer" rows={4} defaultValue={text} onInput={save} onKeyDown={onKeyDown} />
      )}
      <div class="dialog-foot">
        {cancel}
        <button type="button" class="main" onClick={submit}>
          Answer
        </button>
      </div>
    </>
  );
}
