import { effect, untracked, useComputed } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useId, useLayoutEffect } from 'preact/hooks';
import type { Manner } from '../actions/prompting.ts';
import { useSession } from '../state/app.ts';
import type { Writing } from '../state/writing/writing.ts';
import type { Completer, Suggestion } from './completion/completer.ts';
import { optionId, Suggestions } from './completion/suggestions.tsx';
import { press } from './keys.ts';
import { isTouched } from './pointer.ts';

interface MessageBoxProps {
  readonly box: RefObject<HTMLTextAreaElement | null>;
  readonly writing: Writing;
  readonly completer: Completer;
  readonly onSubmit: (manner: Manner) => void;
  readonly onFiles: (files: readonly File[]) => void;
}

/** The box that messages are written in. It grows with its text. */
export function MessageBox({ box, writing, completer, onSubmit, onFiles }: MessageBoxProps) {
  const { view } = useSession();
  const list = useId();
  const isRunning = useComputed(() => view.value.running).value;
  const isOpen = completer.suggestions.value.length > 0;
  const look = () => box.current && completer.look(box.current.value, box.current.selectionStart);

  // Whoever sees the box can write: nothing that is typed is lost.
  useLayoutEffect(() => {
    const isElsewhere = document.activeElement?.closest('dialog, input, textarea') !== null;
    if (!isTouched() && !isElsewhere) box.current?.focus();
  }, [writing]);
  useEffect(
    () =>
      effect(() => {
        const { value: text } = writing.text;
        if (!box.current) return;
        // What was put there from elsewhere is to be seen at once, and gone on with at its end.
        if (box.current.value !== text) put(box.current, text);
        grow(box.current);
        if (document.activeElement === box.current) untracked(look);
      }),
    [writing, completer],
  );

  const complete = (suggestion: Suggestion | undefined) => {
    const completed = completer.completed(writing.text.value, suggestion);
    if (!completed || !box.current) return;
    put(box.current, completed.text, completed.caret);
    writing.text.value = completed.text;
    look();
  };
  const desk = { writing, completer, messages: () => view.value.messages, complete, submit: onSubmit };
  return (
    <>
      <Suggestions id={list} completer={completer} onSelect={complete} />
      <textarea
        ref={box}
        class="message-box"
        dir="auto"
        rows={1}
        aria-label="Message"
        placeholder={placeholder(isRunning)}
        enterkeyhint={isTouched() ? 'enter' : 'send'}
        autocomplete="off"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={isOpen ? list : undefined}
        aria-activedescendant={isOpen ? optionId(list, completer.chosen.value) : undefined}
        value={writing.text.value}
        onInput={({ currentTarget }) => {
          writing.text.value = currentTarget.value;
          writing.problem.value = undefined;
        }}
        onKeyDown={(event) => press(event, desk) && event.preventDefault()}
        onKeyUp={look}
        onClick={look}
        onFocus={look}
        onBlur={() => completer.look('', 0)}
        onPaste={(event) => {
          const { files = [], types = [] } = event.clipboardData ?? {};
          // Spreadsheets and the like add a picture of what they copy.
          if (files.length === 0 || types.includes('text/plain')) return;
          event.preventDefault();
          onFiles([...files]);
        }}
      />
    </>
  );
}

function placeholder(isRunning: boolean): string {
  if (isTouched()) return isRunning ? 'Say more while it works' : 'Write a message, the button sends it';
  return isRunning ? 'Say more while it works: Enter steers' : 'Write a message, Enter sends it';
}

function put(box: HTMLTextAreaElement, text: string, caret = text.length): void {
  box.value = text;
  box.setSelectionRange(caret, caret);
}

/** For browsers in which boxes do not grow by themselves. */
function grow(box: HTMLTextAreaElement): void {
  if (CSS.supports('field-sizing', 'content')) return;
  box.style.height = 'auto';
  box.style.height = `${box.scrollHeight}px`;
}
