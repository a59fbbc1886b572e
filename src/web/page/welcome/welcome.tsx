import { useComputed } from '@preact/signals';
import { useApp, useSession } from '../state/app.ts';
import { BuiltInWelcome } from './built-in-welcome.tsx';
import { RealWelcome } from './real-welcome.tsx';
import { RecentSessions } from './recent-sessions.tsx';

const EMPTY_SESSION = 'Nothing was said in this session yet.';

/** The content of an empty session. */
export function Welcome() {
  const session = useSession();
  const model = useComputed(() => session.view.value.state.model).value;
  const mayPrompt = useApp().may('prompt');
  // The model is not known yet: nothing should flash.
  if (model === undefined) return null;
  return (
    <div class="welcome">
      {!mayPrompt ? (
        <p class="note">{EMPTY_SESSION}</p>
      ) : model?.provider === 'tau' ? (
        <BuiltInWelcome />
      ) : (
        <RealWelcome />
      )}
      <RecentSessions />
    </div>
  );
}
