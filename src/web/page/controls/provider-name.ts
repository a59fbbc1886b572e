// Names that differ from their capitalised id.
const displayNames: Readonly<Record<string, string>> = {
  'ant-ling': 'Ant Ling',
  'cloudflare-ai-gateway': 'Cloudflare AI Gateway',
  'cloudflare-workers-ai': 'Cloudflare Workers AI',
  deepseek: 'DeepSeek',
  huggingface: 'Hugging Face',
  llamacpp: 'llama.cpp',
  lmstudio: 'LM Studio',
  minimax: 'MiniMax',
  'minimax-cn': 'MiniMax (China)',
  moonshotai: 'Moonshot AI',
  'moonshotai-cn': 'Moonshot AI (China)',
  nvidia: 'NVIDIA',
  openai: 'OpenAI',
  opencode: 'OpenCode',
  'opencode-go': 'OpenCode Go',
  openrouter: 'OpenRouter',
  'qwen-token-plan-cn': 'Qwen Token Plan (China)',
  tau: 'Built in',
  'vercel-ai-gateway': 'Vercel AI Gateway',
  xai: 'xAI',
  'xiaomi-token-plan-ams': 'Xiaomi Token Plan (Amsterdam)',
  'xiaomi-token-plan-cn': 'Xiaomi Token Plan (China)',
  'xiaomi-token-plan-sgp': 'Xiaomi Token Plan (Singapore)',
  zai: 'Z.ai',
  'zai-coding-cn': 'Z.ai Coding (China)',
};

/** Returns the display name of a provider. */
export const providerName = (id: string): string =>
  (Object.hasOwn(displayNames, id) ? displayNames[id] : undefined) ??
  id.replaceAll(/(^|-)(\p{L})/gu, (_found, dash: string, letter: string) => `${dash && ' '}${letter.toUpperCase()}`);
