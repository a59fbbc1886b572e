import { useComputed } from '@preact/signals';
import { useApp, useSession } from '../state/app.ts';
import { BuiltInWelcome } from './built-in-welcome.tsx';
import { RealWelcome } from './real-welcome.tsx';
import { RecentSessions } from './recent-sessions.tsx';

/** What is there before anything was said. */
export function Welcome() {
  const session = useSession();
  const model = useComputed(() => session.view.value.state.model).value;
  const mayPrompt = useApp().may('prompt');
  // Nothing is known yet: it would only flash.
  if (model === undefined) return null;
  return (
    <div class="welcome">
      {!mayPrompt ? (
        <p class="note">Nothing was said in this session yet.</p>
      ) : model?.provider === 'tau' ? (
        <BuiltInWelcome />
      ) : (
        <RealWelcome />
      )}
      <RecentSessions />
    </div>
  );
}
