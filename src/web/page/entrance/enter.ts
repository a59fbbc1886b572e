import { logIn, ServerRefusal, type LoginInfo, currentLogin } from '../server-api.ts';

const CODE_PREFIX = '#code=';

/** A login link lets this browser in. One that was used up does no harm to whoever is in already. */
export async function authenticate(): Promise<LoginInfo | { readonly refusal: string | undefined }> {
  // A login link that is followed from this very page loads nothing by itself.
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
