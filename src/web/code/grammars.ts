import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import graphql from 'highlight.js/lib/languages/graphql';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import lua from 'highlight.js/lib/languages/lua';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import nginx from 'highlight.js/lib/languages/nginx';
import php from 'highlight.js/lib/languages/php';
import powershell from 'highlight.js/lib/languages/powershell';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import scss from 'highlight.js/lib/languages/scss';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import type { Highlighter } from './token.ts';
import { TokenEmitter } from './token-emitter.ts';

const languages = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  graphql,
  ini,
  java,
  javascript,
  json,
  kotlin,
  lua,
  makefile,
  markdown,
  nginx,
  php,
  powershell,
  python,
  ruby,
  rust,
  scss,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};

// Other names of these languages, and languages that are close enough.
const aliases = {
  bash: ['shell', 'console', 'shellsession', 'fish', 'ksh'],
  css: ['less'],
  ini: ['conf', 'cfg', 'dotenv', 'env', 'properties', 'editorconfig'],
  json: ['json5', 'jsonl', 'ndjson'],
  makefile: ['just', 'justfile'],
  markdown: ['mdx'],
  python: ['pyi', 'starlark', 'bzl'],
  sql: ['mysql', 'postgres', 'postgresql', 'pgsql', 'sqlite'],
  xml: ['vue', 'svelte', 'astro'],
};

const highlighter = hljs.newInstance();
highlighter.configure({ __emitter: TokenEmitter });
for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);
for (const [languageName, names] of Object.entries(aliases)) highlighter.registerAliases(names, { languageName });

const MAX_HIGHLIGHT_MS = 100;

/** Tokenises code with the grammars of highlight.js, without producing markup. */
export const highlight: Highlighter = (text, language) => {
  if (!highlighter.getLanguage(language)) return undefined;
  // The first call compiles the grammar; that time does not count.
  highlighter.highlight('', { language });
  const begin = performance.now();
  const { _emitter: emitter, _top: top } = highlighter.highlight(text, { language, ignoreIllegals: true });
  const isSlow = performance.now() - begin > MAX_HIGHLIGHT_MS;
  if (!(emitter instanceof TokenEmitter) || emitter.length !== text.length) return undefined;
  return { tokens: emitter.tokens, endsAtTopLevel: top !== undefined && !('parent' in top), isSlow };
};
