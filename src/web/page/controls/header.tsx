import { useSession } from '../state/app.ts';
import { titleOf } from '../state/title.ts';

/** What this session is, and what can be set. */
export function Header() {
  const { view } = useSession();
  return (
    <header class="head">
      <h1>{titleOf(view.value)}</h1>
    </header>
  );
}
