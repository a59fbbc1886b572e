import { messageOf } from '../../protocol/errors.ts';
import { element } from '../element.ts';
import { logIn } from './server.ts';

/** Asks for a token. Once it was right the page begins anew. `reason`: why it asks. */
export function loginForm(reason?: string): HTMLElement {
  const token = element('input', {
    attributes: { type: 'password', name: 'token', required: '', autocomplete: 'current-password', id: 'token' },
  });
  const problem = element('p', { class: 'failure', attributes: { role: 'alert' } }, reason);
  const send = element('button', { class: 'main', attributes: { type: 'submit' } }, 'Log in');
  const form = element(
    'form',
    { class: 'alone login' },
    element('h1', {}, 'tau'),
    problem,
    element('label', { attributes: { for: 'token' } }, 'Token'),
    element('div', { class: 'row' }, token, send),
    element('p', { class: 'note' }, 'Whoever runs this server makes one with ', newToken(), '.'),
    element('p', { class: 'note' }, 'The link that ', element('code', {}, 'tau serve'), ' prints lets one browser in.'),
  );
  problem.hidden = reason === undefined;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send.disabled = true;
    logIn({ token: token.value.trim() }).then(
      () => location.reload(),
      (error: unknown) => {
        send.disabled = false;
        problem.hidden = false;
        problem.textContent = messageOf(error);
      },
    );
  });
  return form;
}

const newToken = () => element('code', {}, 'tau token create --name browser --scope view,prompt,bash');
