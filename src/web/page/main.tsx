import { render } from 'preact';
import { messageOf } from '../../protocol/errors.ts';
import { applyTheme, storedTheme } from '../theme.ts';
import { ErrorPage } from './error-page.tsx';
import { authenticate, LoginForm } from './login.tsx';
import { Page } from './page.tsx';
import { App } from './state/app.ts';

/** Renders the page for a logged-in browser, or the login form. */
async function start(): Promise<void> {
  const outcome = await authenticate();
  if ('refusal' in outcome) render(<LoginForm reason={outcome.refusal} />, document.body);
  else render(<Page app={new App(outcome)} />, document.body);
}

applyTheme(storedTheme());
start().catch((error: unknown) => render(<ErrorPage reason={messageOf(error)} />, document.body));
