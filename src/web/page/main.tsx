import { render } from 'preact';
import { messageOf } from '../../protocol/errors.ts';
import { rememberedTheme, wear } from '../theme.ts';
import { enter } from './entrance/enter.ts';
import { LoginForm } from './entrance/login-form.tsx';
import { Trouble } from './entrance/trouble.tsx';
import { Page } from './page.tsx';
import { App } from './state/app.ts';

/** Lets whoever may see it look at the session that the address names, or at a new one. */
async function start(): Promise<void> {
  const entered = await enter();
  if ('refusal' in entered) render(<LoginForm reason={entered.refusal} />, document.body);
  else render(<Page app={new App(entered)} />, document.body);
}

wear(rememberedTheme());
start().catch((error: unknown) => render(<Trouble reason={messageOf(error)} />, document.body));
