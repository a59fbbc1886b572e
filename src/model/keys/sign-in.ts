import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { Model } from '../../protocol/generated/vocabulary.ts';
import { isObject } from '../../protocol/json.ts';
import { type OAuthCredential, renewSignIn, storeSignIn } from '../../store/credentials.ts';
import type { ModelList } from '../registry/model-list.ts';
import { extensionFlow } from '../sign-in/extension-flow.ts';
import type { FlowContext, LoginInteraction, SignInFlow } from '../sign-in/flow.ts';
import { forbiddenSignIn, isSignInProvider, signInProvider, signInProviders } from '../sign-in/sign-in-providers.ts';
import { untilAbort } from '../until-abort.ts';

// A sign-in is renewed this long before it expires, or after nine tenths of a shorter life.
const RENEW_MARGIN_MS = 5 * 60_000;
const MARGIN_SHARE = 0.1;

const RENEW_TIMEOUT_MS = 15_000;

export interface SignInsOptions {
  readonly agentDir: string;
  readonly env: FlowContext['env'];
  readonly list: ModelList;
  /** Replaces `RENEW_TIMEOUT_MS`. */
  readonly renewTimeoutMs?: number;
}

/** A sign-in as requests use it. */
export interface SignInAuth {
  readonly apiKey: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A stored sign-in could not be renewed. */
export class RenewalError extends Error {
  override readonly name = 'RenewalError';
  /** Whether only a new login helps. */
  readonly isPermanent: boolean;

  constructor(message: string, { isPermanent }: Pick<RenewalError, 'isPermanent'>) {
    super(message);
    this.isPermanent = isPermanent;
  }
}

/** Uses and renews the stored sign-ins of all providers that tau or an extension can sign in to. */
export class SignIns {
  readonly #options: SignInsOptions;
  /** Running renewals by provider. */
  readonly #renewals = new Map<string, Promise<OAuthCredential>>();
  /** Refresh tokens that an issuer has rejected for good, with its reason: they are not sent again. */
  readonly #rejected = new Map<string, string>();

  /** Models that an extension has changed for an account: once per sign-in, so that they keep their identity. */
  readonly #modified = new WeakMap<readonly Model[], { credential: OAuthCredential; models: readonly Model[] }>();

  constructor(options: SignInsOptions) {
    this.#options = options;
  }

  /** Signs in to a provider and stores the result. Rejects with a `Refusal` if there is no sign-in for it. */
  async logIn(provider: string, interaction: LoginInteraction): Promise<void> {
    const forbidden = this.#extension(provider) ? undefined : forbiddenSignIn(provider);
    if (forbidden !== undefined) throw new Refusal('not_supported', forbidden);
    const flow = await this.flow(provider);
    if (!flow) throw new Refusal('not_found', `Unknown OAuth provider: ${provider}`);
    const signIn = await flow.login(interaction, this.context(provider));
    interaction.signal.throwIfAborted();
    await storeSignIn(this.#options.agentDir, provider, signIn);
  }

  /** Whether tau or an extension can renew a sign-in. */
  canRenew(provider: string, { refresh }: OAuthCredential): boolean {
    return this.#extension(provider) !== undefined || (isSignInProvider(provider) && Boolean(refresh));
  }

  /** Whether requests of this provider count against a plan when it is signed in to. */
  isSubscription(provider: string): boolean {
    return this.#extension(provider)?.isSubscription ?? signInProvider(provider)?.isSubscription ?? true;
  }

  /**
   * The key and headers of a sign-in, renewed if it is about to expire, or has less than `minLifeMs` left. Rejects with
   * a `RenewalError`.
   */
  async auth(provider: string, stored: OAuthCredential, minLifeMs = 0): Promise<SignInAuth> {
    const extension = this.#extension(provider);
    const expires = extension !== undefined || signInProvider(provider)?.expires !== false;
    const isNeeded = (credential: OAuthCredential) => isDue(credential) || credential.expires - Date.now() < minLifeMs;
    const credential = expires && isNeeded(stored) ? await this.#renewOrKeep(provider, stored, isNeeded) : stored;
    if (expires && credential.expires - Date.now() < minLifeMs)
      throw new RenewalError(`A sign-in for ${provider} does not live that long`, { isPermanent: false });
    if (!extension) {
      const { key, headers } = signInProvider(provider) ?? {};
      return { apiKey: key?.(credential) ?? credential.access, headers: headers?.(credential) ?? {} };
    }
    const apiKey: unknown = extension.getApiKey(credential);
    if (typeof apiKey !== 'string' || apiKey === '') throw new Error('getApiKey returned no key');
    return { apiKey, headers: {} };
  }

  /** Renews a sign-in that the API has rejected, unless it was renewed meanwhile. */
  async renewRejected(provider: string, rejected: OAuthCredential): Promise<void> {
    await this.#renew(provider, ({ access }) => access === rejected.access);
  }

  /** The models that the account of a sign-in may use. */
  accountModels(provider: string, models: readonly Model[], credential: OAuthCredential): readonly Model[] {
    const { modifyModels } = this.#extension(provider) ?? {};
    if (!modifyModels) return availableModels(models, credential);
    const known = this.#modified.get(models);
    if (known?.credential === credential) return known.models;
    const changed = modifiedModels(models, (copies) => modifyModels(copies, credential));
    this.#modified.set(models, { credential, models: changed });
    return changed;
  }

  /** Settles when no renewal is running: a renewed sign-in that is not stored is lost. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#renewals.values());
  }

  /** The providers that can be signed in to: those of extensions, then those of tau. */
  providers(): readonly { readonly id: string; readonly name: string; readonly available: boolean }[] {
    const { registered } = this.#options.list;
    const own = registered.names.filter((id) => typeof registered.signInOf(id)?.login === 'function');
    const builtIn = Object.keys(signInProviders).filter((id) => registered.signInOf(id) === undefined);
    return [...own, ...builtIn].map((id) => ({
      id,
      name: this.#extension(id)?.name ?? signInProvider(id)?.name ?? id,
      available: own.includes(id) || !signInProvider(id)?.requiresClientId || this.context(id).clientId !== undefined,
    }));
  }

  /** How to sign in to a provider. */
  async flow(provider: string): Promise<SignInFlow | undefined> {
    const extension = this.#extension(provider);
    if (extension) return extensionFlow(provider, extension);
    return isSignInProvider(provider) ? (await import('../sign-in/flows.ts')).flows[provider] : undefined;
  }

  /** The settings of a provider's sign-in. */
  context(provider: string): FlowContext {
    const { agentDir, env, list } = this.#options;
    return { agentDir, env, ...list.settings(provider)?.signIn };
  }

  /** A sign-in that is still valid is used if its issuer cannot be reached. */
  async #renewOrKeep(
    provider: string,
    stored: OAuthCredential,
    isNeeded: (credential: OAuthCredential) => boolean,
  ): Promise<OAuthCredential> {
    try {
      return await this.#renew(provider, isNeeded);
    } catch (error) {
      const isPermanent = error instanceof RenewalError && error.isPermanent;
      if (isPermanent || stored.expires <= Date.now()) throw error;
      return stored;
    }
  }

  /** Callers share one renewal. No abort of theirs stops it. */
  #renew(provider: string, due: (stored: OAuthCredential) => boolean): Promise<OAuthCredential> {
    const running = this.#renewals.get(provider);
    if (running !== undefined) return running;
    const renewal = renewSignIn(this.#options.agentDir, provider, {
      isDue: due,
      renew: (stored) => this.#request(provider, stored),
    }).finally(() => this.#renewals.delete(provider));
    this.#renewals.set(provider, renewal);
    return renewal;
  }

  async #request(provider: string, stored: OAuthCredential): Promise<unknown> {
    const flow = await this.flow(provider);
    if (!flow?.refresh || stored.refresh === '') throw new RenewalError(endedMessage(provider), { isPermanent: true });
    const known = stored.refresh === undefined ? undefined : this.#rejected.get(stored.refresh);
    if (known !== undefined) throw new RenewalError(endedMessage(provider, known), { isPermanent: true });
    const { renewTimeoutMs = RENEW_TIMEOUT_MS } = this.#options;
    const signal = AbortSignal.timeout(renewTimeoutMs);
    try {
      // The code of an extension may ignore the signal.
      return await untilAbort(flow.refresh(stored, { ...this.context(provider), signal }), signal);
    } catch (error) {
      if (signal.aborted)
        throw new RenewalError(`The sign-in for ${provider} was not renewed within ${renewTimeoutMs} ms`, {
          isPermanent: false,
        });
      const reason = messageOf(error);
      const isPermanent = isPermanentError(error);
      if (isPermanent && stored.refresh) this.#rejected.set(stored.refresh, reason);
      throw new RenewalError(
        isPermanent ? endedMessage(provider, reason) : `The sign-in for ${provider} cannot be renewed now: ${reason}`,
        { isPermanent },
      );
    }
  }

  #extension(provider: string) {
    return this.#options.list.registered.signInOf(provider);
  }
}

/** Whether a sign-in has to be renewed before it is used. */
export function isDue({ expires, issued }: OAuthCredential, now = Date.now()): boolean {
  const lifetime = issued === undefined || issued >= expires ? Infinity : expires - issued;
  return expires - now < Math.min(RENEW_MARGIN_MS, lifetime * MARGIN_SHARE);
}

const endedMessage = (provider: string, reason?: string) =>
  `The sign-in for ${provider} is no longer valid${reason === undefined ? '' : `: ${reason}`}. Run: tau login ${provider}`;

// The code of an extension reports such an error in words of its own.
const PERMANENT_PATTERN = /\b(?:invalid_grant|refresh_token_(?:reused|expired|invalidated))\b/;

const isPermanentError = (error: unknown): boolean =>
  (error instanceof Error && 'isPermanent' in error && error.isPermanent === true) ||
  PERMANENT_PATTERN.test(messageOf(error));

/** The models that a stored sign-in lists as available; all of them if it lists none. */
function availableModels(models: readonly Model[], credential: OAuthCredential): readonly Model[] {
  const { availableModelIds: ids } = credential as { readonly availableModelIds?: unknown };
  return Array.isArray(ids) && ids.length > 0 ? models.filter(({ id }) => ids.includes(id)) : models;
}

/** The models as the code of an extension changes them; unchanged if it fails or returns anything else than models. */
function modifiedModels(models: readonly Model[], modify: (models: Model[]) => unknown): readonly Model[] {
  const [first] = models;
  try {
    const changed = modify(structuredClone([...models]));
    if (!first || !Array.isArray(changed)) return models;
    const own = changed.filter((model) => isObject(model) && model['provider'] === first.provider);
    return own.every((model) => typeof model['id'] === 'string') ? (own as Model[]) : models;
  } catch {
    return models;
  }
}
