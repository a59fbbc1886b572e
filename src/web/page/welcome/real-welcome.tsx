import { useComputed } from '@preact/signals';
import { PlainText } from '../../code/plain-text.tsx';
import { focusMessage } from '../composer/focus-message.ts';
import { useDraft, useSession } from '../state/app.ts';
import { AddModel } from './add-model.tsx';
import { codeSuggestions, SuggestionList } from './suggestions.tsx';

/** The welcome page with a model. A suggestion is put into the draft, and the user sends it. */
export function RealWelcome() {
  const session = useSession();
  const { cwd = '', model, modelFallbackMessage } = useComputed(() => session.view.value.state).value;
  const draft = useDraft();
  const write = (text: string) => {
    draft.text.value = text;
    focusMessage();
  };
  if (!model)
    return (
      <>
        <h2>No model can be used</h2>
        <p class="failure">
          <PlainText text={modelFallbackMessage ?? 'The model that was named is not there.'} />
        </p>
        <AddModel />
      </>
    );
  return (
    <>
      <h2>What is to be done?</h2>
      <p>
        <PlainText text={model.name} /> works in{' '}
        <code>
          <PlainText text={cwd} />
        </code>
        .
      </p>
      <SuggestionList suggestions={codeSuggestions} onChoose={write} />
    </>
  );
}
