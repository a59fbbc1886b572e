import type { Model } from '../../protocol/generated/vocabulary.ts';

/** The default model of each provider, preferred providers first. */
export const defaultIds: Readonly<Record<string, string>> = {
  anthropic: 'claude-opus-5-5',
  openai: 'gpt-6.1-sol',
  google: 'gemini-4-argon',
  xai: 'grok-4.7',
  deepseek: 'deepseek-v4-pro',
  moonshotai: 'kimi-k3.1-pro',
  'moonshotai-cn': 'kimi-k3.1-pro',
  'kimi-coding': 'k3.1-pro',
  zai: 'glm-5.3',
  'zai-coding-cn': 'glm-5.3',
  minimax: 'MiniMax-M3',
  'minimax-cn': 'MiniMax-M3',
  meta: 'muse-spark-1.3',
  mistral: 'mistral-medium-latest',
  azure: 'gpt-6.1-sol',
  'google-vertex': 'gemini-4-argon',
  'amazon-bedrock': 'global.anthropic.claude-opus-5-5',
  openrouter: 'anthropic/claude-opus-5.5',
  'vercel-ai-gateway': 'anthropic/claude-opus-5.5',
  'cloudflare-ai-gateway': 'claude-opus-5-5',
  opencode: 'claude-opus-5-5',
  'opencode-go': 'kimi-k3.1-pro',
  groq: 'openai/gpt-oss-120b',
  cerebras: 'gpt-oss-120b',
  together: 'moonshotai/Kimi-K3',
  fireworks: 'accounts/fireworks/models/kimi-k3',
  baseten: 'moonshotai/Kimi-K3',
  huggingface: 'moonshotai/Kimi-K3',
  nvidia: 'nvidia/nemotron-3-ultra-550b-a55b',
  'cloudflare-workers-ai': '@cf/zai-org/glm-5.3',
  'qwen-token-plan': 'qwen3.8-max',
  'qwen-token-plan-cn': 'qwen3.8-max',
  'qwen-token-plan-individual': 'qwen3.8-max',
  xiaomi: 'mimo-v2.6-pro',
  'xiaomi-token-plan-ams': 'mimo-v2.6-pro',
  'xiaomi-token-plan-cn': 'mimo-v2.6-pro',
  'xiaomi-token-plan-sgp': 'mimo-v2.6-pro',
  'ant-ling': 'Ring-2.6-1T',
  'openai-codex': 'gpt-6.1-sol',
  'github-copilot': 'claude-opus-5.5',
};

/** The providers with a default, preferred ones first. */
export const preferredProviders: readonly string[] = Object.keys(defaultIds);

/** A provider's default model, else its first reasoning model, else its first; undefined if it has none. */
export function defaultModel(provider: string, models: readonly Model[]): Model | undefined {
  const own = models.filter((model) => model.provider === provider);
  const id = Object.hasOwn(defaultIds, provider) ? defaultIds[provider] : undefined;
  return own.find((model) => model.id === id) ?? own.find((model) => model.reasoning) ?? own[0];
}
