import { PlainText } from '../../code/plain-text.tsx';
import { Icon } from '../icons.tsx';
import { useApp } from '../state/app.ts';

/** What whoever may only look sees before a session is chosen. */
export const Unchosen = () => (
  <Nowhere title="Choose a session" words="This login may look at sessions, but not begin one." />
);

/** What stands in the place of a session that there is not, or not for this login. */
export const Missing = ({ words, reason }: { readonly words: string; readonly reason: string }) => (
  <Nowhere title={words} words={`${reason}. It may have been deleted, or belong to somebody else.`} />
);

function Nowhere({ title, words }: { readonly title: string; readonly words: string }) {
  const app = useApp();
  return (
    <main class="alone nowhere">
      <h1>{title}</h1>
      <p>
        <PlainText text={words} />
      </p>
      <div class="row">
        {app.may('prompt') && (
          <button type="button" class="main" onClick={() => app.begin()}>
            New session
          </button>
        )}
        {app.isNarrow.value && (
          <button
            type="button"
            onClick={() => {
              app.isListOpen.value = true;
            }}
          >
            <Icon name="list" /> Sessions
          </button>
        )}
      </div>
    </main>
  );
}
