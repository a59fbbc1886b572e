import { useComputed } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { PlainText } from '../../code/plain-text.tsx';
import { send } from '../actions/prompting.ts';
import { useSession } from '../state/app.ts';
import { AddModel } from './add-model.tsx';
import { builtInSuggestions, SuggestionList } from './suggestions.tsx';

/** The welcome page without a real model: prompts to try, and how to add a model. */
export function BuiltInWelcome() {
  const session = useSession();
  const cwd = useComputed(() => session.view.value.state.cwd).value;
  const isSending = useRef(false);
  // Ignores a second click while the first prompt is being sent.
  const choose = async (text: string) => {
    if (isSending.current || session.outbox.value.length > 0 || session.view.value.running) return;
    isSending.current = true;
    await send(session, { text, images: [] }, 'steer');
    // The running state is known in the next frame.
    requestAnimationFrame(() => {
      isSending.current = false;
    });
  };
  return (
    <>
      <h2>Try it without a key</h2>
      <p>
        What answers here is a <strong>scripted model</strong>: it comes with tau, needs no key and costs nothing. It
        only understands a few plain requests, but its tools are real. They work in{' '}
        <code>
          <PlainText text={cwd ?? ''} />
        </code>
        .
      </p>
      <SuggestionList suggestions={builtInSuggestions} onChoose={(text) => void choose(text)} />
      <AddModel />
    </>
  );
}
