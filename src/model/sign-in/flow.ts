import type { NewSignIn, OAuthCredential } from '../../store/credentials.ts';

/** A request for input of the user. */
export type LoginPrompt = {
  readonly message: string;
  /** Withdraws the prompt. */
  readonly signal?: AbortSignal;
} & (
  | { readonly type: 'text' | 'secret' | 'manual_code'; readonly placeholder?: string }
  | { readonly type: 'select'; readonly options: readonly LoginOption[] }
);

export interface LoginOption {
  readonly id: string;
  readonly label: string;
}

/** A message for the user. */
export type LoginEvent =
  | { readonly type: 'info' | 'progress'; readonly message: string }
  | { readonly type: 'auth_url'; readonly url: string; readonly instructions?: string }
  | { readonly type: 'device_code'; readonly userCode: string; readonly verificationUri: string };

/** The user who signs in, through a terminal, a client or an embedding program. */
export interface LoginInteraction {
  /** Aborts the login. */
  readonly signal: AbortSignal;
  /** The input of the user, for a select prompt the id of an option; undefined if the user cancels. */
  readonly prompt: (prompt: LoginPrompt) => Promise<string | undefined>;
  readonly notify: (event: LoginEvent) => void;
}

/** The settings of a sign-in. */
export interface FlowContext {
  readonly agentDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Overrides the host of every address of the issuer. */
  readonly issuer?: string | undefined;
  /** Overrides the id of the client. */
  readonly clientId?: string | undefined;
}

/** How to sign in to a provider and to renew the result. */
export interface SignInFlow {
  readonly login: (interaction: LoginInteraction, context: FlowContext) => Promise<NewSignIn>;
  /** Is absent if a sign-in never expires. */
  readonly refresh?: (
    credential: OAuthCredential,
    context: FlowContext & { readonly signal: AbortSignal },
  ) => Promise<Partial<NewSignIn>>;
}

/** The user has cancelled the login. */
export class LoginCancelled extends Error {
  override readonly name = 'LoginCancelled';

  constructor() {
    super('The login was cancelled');
  }
}
