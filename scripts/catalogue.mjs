// Writes catalogue/*.json from published lists of models:
//   node scripts/catalogue.mjs <folder of @earendil-works/pi-ai> [<folder of @pydantic/genai-prices>]
// With the second, prints prices that differ; those of the first are written.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [source, prices] = process.argv.slice(2);
if (!source) throw new Error('Which folder holds the package @earendil-works/pi-ai?');
const target = join(import.meta.dirname, '../catalogue');

/** The APIs that tau implements. */
const supportedApis = new Set([
  'anthropic-messages',
  'openai-completions',
  'openai-responses',
  'openai-codex-responses',
  'google-generative-ai',
  'azure-openai-responses',
  'bedrock-converse-stream',
  'google-vertex',
  'mistral-conversations',
]);

/**
 * Servers whose address depends on the user's account or region. At GitHub Copilot pi identifies as an editor; tau uses
 * the address and the headers of other programs.
 */
const replacedServers = {
  'amazon-bedrock': { baseUrl: undefined },
  azure: { baseUrl: undefined },
  'github-copilot': { baseUrl: 'https://api.githubcopilot.com', headers: undefined },
  'google-vertex': { baseUrl: undefined },
};

/** The compatibility options that tau's adapters implement. */
const quirks = [
  'allowEmptySignature',
  'cacheControlFormat',
  'chatTemplateArgs',
  'forceAdaptiveThinking',
  'maxTokensField',
  'openRouterRouting',
  'reasoningEffortMap',
  'requiresAssistantAfterToolResult',
  'requiresReasoningContentOnAssistantMessages',
  'requiresThinkingAsText',
  'requiresToolResultName',
  'sendSessionAffinityHeaders',
  'sessionAffinityFormat',
  'supportsCacheControlOnTools',
  'supportsDeveloperRole',
  'supportsEagerToolInputStreaming',
  'supportsLongCacheRetention',
  'supportsReasoningEffort',
  'supportsStore',
  'supportsStrictMode',
  'supportsStrictTools',
  'supportsTemperature',
  'supportsUsageInStreaming',
  'thinkingFormat',
  'vercelGatewayRouting',
  'zaiToolStream',
];

for (const name of readdirSync(target)) if (name.endsWith('.json')) rmSync(join(target, name));
const kept = [];
for (const provider of providersOf(source)) {
  const models = modelsOf(provider);
  if (models.length > 0) writeFileSync(join(target, `${provider}.json`), fileOf(models));
  kept.push(...models.map((model) => ({ provider, ...model })));
}
writeVersion();
console.log(`${kept.length} models of ${new Set(kept.map(({ provider }) => provider)).size} providers`);
if (prices) await comparePrices(kept);

function providersOf(folder) {
  return readdirSync(join(folder, 'dist/providers/data'))
    .filter((name) => /^[a-z0-9-]+\.json$/.test(name))
    .map((name) => name.replace(/\.json$/, ''));
}

function modelsOf(provider) {
  const lists = JSON.parse(readFileSync(join(source, 'dist/providers/data', `${provider}.json`), 'utf8'));
  return Object.entries(lists)
    .filter(([api]) => supportedApis.has(api))
    .flatMap(([, list]) => Object.entries(list))
    .filter(([key, { id }]) => key.startsWith('chat:') && !/[:-]batch$/.test(id))
    .map(([, model]) => ({ ...model, ...replacedServers[provider] }))
    .filter((model) => {
      const fault = faultOf(model);
      if (fault) console.log(`refused: ${provider}/${JSON.stringify(model.id)}: ${fault}`);
      return !fault;
    });
}

function faultOf({ id, name, baseUrl, cost, contextWindow, maxTokens }) {
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(id + name)) return 'control characters';
  if (baseUrl !== undefined && (!URL.canParse(baseUrl) || new URL(baseUrl).protocol !== 'https:'))
    return `base URL ${JSON.stringify(baseUrl)}`;
  const numbers = [cost.input, cost.output, cost.cacheRead, cost.cacheWrite, contextWindow, maxTokens];
  return numbers.every((number) => Number.isFinite(number) && number >= 0) ? undefined : 'numbers';
}

/** A list per server: shared fields first, then one model per line. */
function fileOf(models) {
  const serverOf = ({ api, baseUrl }) => `${api} ${baseUrl}`;
  const lists = [...new Set(models.map(serverOf))].map((server) => {
    const all = models.filter((model) => serverOf(model) === server);
    const [{ api, baseUrl, headers }] = all;
    if (all.some((model) => !same(model.headers, headers))) throw new Error(`Headers differ at ${baseUrl}`);
    const compat = sharedQuirks(all);
    const head = JSON.stringify({ api, baseUrl, headers, compat: orUndefined(compat) });
    const lines = all.map((model) => JSON.stringify(lineOf(model, compat)));
    return `${head.slice(0, -1)},"models":[\n${lines.join(',\n')}\n]}`;
  });
  return `[\n${lists.join(',\n')}\n]\n`;
}

function lineOf({ id, name, reasoning, input, cost, contextWindow, maxTokens, thinkingLevelMap, compat }, shared) {
  const { input: read, output: written, cacheRead, cacheWrite } = cost;
  const own = quirksOf({ compat }).filter(([key]) => !Object.hasOwn(shared, key));
  return {
    id,
    name,
    reasoning,
    input,
    contextWindow,
    maxTokens,
    cost: { input: read, output: written, cacheRead, cacheWrite },
    thinkingLevelMap,
    compat: orUndefined(Object.fromEntries(own)),
  };
}

function sharedQuirks([first, ...others]) {
  const isShared = ([key, value]) => others.every(({ compat }) => same(compat?.[key], value));
  return Object.fromEntries(quirksOf(first).filter(isShared));
}

function quirksOf({ compat = {} }) {
  return quirks.filter((key) => compat[key] !== undefined).map((key) => [key, compat[key]]);
}

function orUndefined(object) {
  return Object.keys(object).length > 0 ? object : undefined;
}

function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

function writeVersion() {
  const { name, version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const readme = join(target, 'README.md');
  writeFileSync(readme, readFileSync(readme, 'utf8').replace(/`@[\w-]+\/[\w-]+` \d[\w.-]*/, `\`${name}\` ${version}`));
}

async function comparePrices(models) {
  const { calcPrice } = await import(pathToFileURL(resolve(prices, 'dist/index.js')).href);
  const names = {
    input: 'input_mtok',
    output: 'output_mtok',
    cacheRead: 'cache_read_mtok',
    cacheWrite: 'cache_write_mtok',
  };
  let compared = 0;
  for (const { provider, id, baseUrl, cost } of models) {
    if (baseUrl === undefined) continue;
    const found = calcPrice({ input_tokens: 1 }, id, { providerApiUrl: baseUrl });
    if (!found) continue;
    compared++;
    const differences = Object.entries(names).flatMap(([ours, theirs]) => {
      const listed = found.model_price[theirs];
      const price = listed?.base ?? listed;
      return price === undefined || isNear(price, cost[ours]) ? [] : [`${ours} ${cost[ours]}, elsewhere ${price}`];
    });
    if (differences.length > 0) console.log(`${provider}/${id}: ${differences.join('; ')}`);
  }
  console.log(`${compared} prices compared`);
}

/** Whether two prices are equal up to rounding. */
function isNear(one, other) {
  return Math.abs(one - other) <= 0.001 * Math.max(one, other);
}
