import { logIn, ServerRefusal, type LoginInfo, currentLogin } from '../server-api.ts';

const CODE_PREFIX = '#code=';

/** Logs in with the code of a login link. A code that is used up does not end an existing login. */
export async function authenticate(): Promise<LoginInfo | { readonly refusal: string | undefined }> {
  // Following a login link on this page only changes the hash, which loads nothing.
  addEventListener('hashchange', () => location.hash.startsWith(CODE_PREFIX) && location.reload());
  const code = location.hash.startsWith(CODE_PREFIX) ? location.hash.slice(CODE_PREFIX.length) : undefined;
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search);
  let refusal: string | undefined;
  try {
    if (code !== undefined) return await logIn({ code });
  } catch (error) {
    if (!(error instanceof ServerRefusal)) throw error;
    refusal = error.status === 401 ? 'This login link was used already, or is too old.' : error.message;
  }
  return (await currentLogin()) ?? { refusal };
}
