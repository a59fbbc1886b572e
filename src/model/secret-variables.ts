/**
 * The environment variables in which users hand tau the keys of model providers, and its own token. Credentials that
 * the user's other programs live on as well, such as GH_TOKEN and those of AWS, are not among them.
 */
const secretVariables: ReadonlySet<string> = new Set([
  'AI_GATEWAY_API_KEY',
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_OAUTH_TOKEN',
  'AZURE_OPENAI_API_KEY',
  'CEREBRAS_API_KEY',
  'COPILOT_GITHUB_TOKEN',
  'GEMINI_API_KEY',
  'GROQ_API_KEY',
  'KIMI_API_KEY',
  'MINIMAX_API_KEY',
  'MINIMAX_CN_API_KEY',
  'MISTRAL_API_KEY',
  'OPENAI_API_KEY',
  'OPENCODE_API_KEY',
  'OPENROUTER_API_KEY',
  'PI_AUTH_TOKEN',
  'XAI_API_KEY',
  'ZAI_API_KEY',
]);

type Environment = Readonly<Record<string, string | undefined>>;

/** What tools may know of the environment. */
export const withoutSecrets = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !secretVariables.has(name)));

/** The names of those that are set. */
export const secretsSet = (env: Environment): string[] => [...secretVariables].filter((name) => env[name]);
