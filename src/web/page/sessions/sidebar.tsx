import { useApp } from '../state/app.ts';

/** The sessions of this server. */
export function Sidebar() {
  const { sessions } = useApp();
  return (
    <nav class="sidebar">
      {sessions.sessions.value?.map(({ id }) => (
        <p key={id}>{id}</p>
      ))}
    </nav>
  );
}
