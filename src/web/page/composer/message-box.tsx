import { effect, untracked, useComputed } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useId, useLayoutEffect } from 'preact/hooks';
import type { StreamingBehavior } from '../actions/prompting.ts';
import { useSession } from '../state/app.ts';
import { hasTouchInput } from '../state/browser-signals.ts';
import type { MessageDraft } from '../state/draft/message-draft.ts';
import type { Completer, Completion } from './completion/completer.ts';
import { CompletionList, optionId } from './completion/completion-list.tsx';
import { handleKey } from './keys.ts';

interface MessageBoxProps {
  readonly box: RefObject<HTMLTextAreaElement | null>;
  readonly draft: MessageDraft;
  readonly completer: Completer;
  readonly onSubmit: (behavior: StreamingBehavior) => void;
  readonly onFiles: (files: readonly File[]) => void;
}

/** The text box of the composer. It grows with its text. */
export function MessageBox({ box, draft, completer, onSubmit, onFiles }: MessageBoxProps) {
  const { view } = useSession();
  const list = useId();
  const isRunning = useComputed(() => view.value.running).value;
  const isOpen = completer.completions.value.length > 0;
  const updateCompleter = () => box.current && completer.update(box.current.value, box.current.selectionStart);

  // The box gets the focus, so that nothing typed is lost.
  useLayoutEffect(() => {
    const isFocusElsewhere = document.activeElement?.closest('dialog, input, textarea') !== null;
    if (!hasTouchInput() && !isFocusElsewhere) box.current?.focus();
  }, [draft]);
  useEffect(
    () =>
      effect(() => {
        const { value: text } = draft.text;
        if (!box.current) return;
        // Text set by the program shows at once, with the caret at its end.
        if (box.current.value !== text) setText(box.current, text);
        fitHeight(box.current);
        if (document.activeElement === box.current) untracked(updateCompleter);
      }),
    [draft, completer],
  );

  const complete = (completion: Completion | undefined) => {
    const completed = completer.applyTo(draft.text.value, completion);
    if (!completed || !box.current) return;
    setText(box.current, completed.text, completed.caret);
    draft.text.value = completed.text;
    updateCompleter();
  };
  const keyContext = { draft, completer, messages: () => view.value.messages, complete, submit: onSubmit };
  return (
    <>
      <CompletionList id={list} completer={completer} onSelect={complete} />
      <textarea
        ref={box}
        class="message-box"
        dir="auto"
        rows={1}
        aria-label="Message"
        placeholder={placeholder(isRunning)}
        enterkeyhint={hasTouchInput() ? 'enter' : 'send'}
        autocomplete="off"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={isOpen ? list : undefined}
        aria-activedescendant={isOpen ? optionId(list, completer.chosen.value) : undefined}
        value={draft.text.value}
        onInput={({ currentTarget }) => {
          draft.text.value = currentTarget.value;
          draft.problem.value = undefined;
        }}
        onKeyDown={(event) => handleKey(event, keyContext) && event.preventDefault()}
        onKeyUp={updateCompleter}
        onClick={updateCompleter}
        onFocus={updateCompleter}
        onBlur={() => completer.update('', 0)}
        onPaste={(event) => {
          const { files = [], types = [] } = event.clipboardData ?? {};
          // Spreadsheets add a picture of what they copy.
          if (files.length === 0 || types.includes('text/plain')) return;
          event.preventDefault();
          onFiles([...files]);
        }}
      />
    </>
  );
}

function placeholder(isRunning: boolean): string {
  if (hasTouchInput()) return isRunning ? 'Say more while it works' : 'Write a message, the button sends it';
  return isRunning ? 'Say more while it works: Enter steers' : 'Write a message, Enter sends it';
}

function setText(box: HTMLTextAreaElement, text: string, caret = text.length): void {
  box.value = text;
  box.setSelectionRange(caret, caret);
}

/** For browsers without `field-sizing`. */
function fitHeight(box: HTMLTextAreaElement): void {
  if (CSS.supports('field-sizing', 'content')) return;
  box.style.height = 'auto';
  box.style.height = `${box.scrollHeight}px`;
}
