// Measures the built program, see docs/benchmarks.md:
// node bench/run.mjs [names…] [--cluster] [--approvals] [--replicas 1|3] [--before folder] [--peers] [--rounds n] [--json file]
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { abort } from './rows/abort.mjs';
import { approvalsBenchmarks } from './rows/approvals.mjs';
import { bashFlood } from './rows/bash-flood.mjs';
import { bigImage } from './rows/big-image.mjs';
import { bigLine } from './rows/big-line.mjs';
import { clusterBenchmarks } from './rows/cluster.mjs';
import { deltasCumulative } from './rows/deltas-cumulative.mjs';
import { deltasDelta } from './rows/deltas-delta.mjs';
import { deltasHttp } from './rows/deltas-http.mjs';
import { extensions } from './rows/extensions.mjs';
import { firstToken } from './rows/first-token.mjs';
import { idle20 } from './rows/idle-20.mjs';
import { latency } from './rows/latency.mjs';
import { list } from './rows/list.mjs';
import { openLong } from './rows/open-long.mjs';
import { pageOpen } from './rows/page-open.mjs';
import { pageScroll } from './rows/page-scroll.mjs';
import { pageShift } from './rows/page-shift.mjs';
import { pageSize } from './rows/page-size.mjs';
import { peerRows } from './rows/peers.mjs';
import { prompt } from './rows/prompt.mjs';
import { promptHttp } from './rows/prompt-http.mjs';
import { readyRss } from './rows/ready-rss.mjs';
import { serveStart } from './rows/serve-start.mjs';
import { serverAttach } from './rows/server-attach.mjs';
import { serverFanOut } from './rows/server-fan-out.mjs';
import { serverMany } from './rows/server-many.mjs';
import { serverParked } from './rows/server-parked.mjs';
import { serverStart } from './rows/server-start.mjs';
import { stalledReader } from './rows/stalled-reader.mjs';
import { start } from './rows/start.mjs';
import { toolTurn } from './rows/tool-turn.mjs';
import { measure } from './support/measure.mjs';
import { installedPeers } from './support/peers.mjs';
import { table, verdict } from './support/table.mjs';
import { Workspace } from './support/workspace.mjs';

const benchmarks = [
  ...[start, readyRss, prompt, deltasDelta, deltasCumulative, bigLine, openLong, list, idle20, stalledReader],
  ...[toolTurn, bashFlood, abort, bigImage, deltasHttp, firstToken, promptHttp, extensions],
  ...[serverStart, serverAttach, serverFanOut, serverParked, serverMany],
  ...[pageOpen, pageScroll, pageShift, pageSize],
];

const withFlags = [serveStart(), ...clusterBenchmarks(3), ...approvalsBenchmarks()];
const benchmarkNames = [...benchmarks, latency([]), ...withFlags].map(({ name }) => name);

process.exitCode = await main(process.argv.slice(2));

async function main(args) {
  const options = parseArguments(args);
  if (!options) return usage();
  const { results, failures } = await runAll(options);
  if (options.json) writeFileSync(options.json, json(results));
  process.stdout.write(`${machine()}\n${noise(results)}\n\n${table(results.flatMap(({ rows }) => rows))}`);
  return failures > 0 ? 1 : 0;
}

/** Parses the command line; undefined for unknown names or a bad round count. */
function parseArguments(args) {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  const options = {
    rounds: text,
    json: text,
    replicas: text,
    before: text,
    peers: flag,
    cluster: flag,
    approvals: flag,
  };
  const { values, positionals: names } = parseArgs({ args, options, allowPositionals: true });
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  const areKnown = names.every((name) => benchmarkNames.includes(name));
  if (!areKnown || !(rounds === undefined || (Number.isInteger(rounds) && rounds > 0))) return undefined;
  const replicas = Number(values.replicas ?? 1);
  if (replicas !== 1 && replicas !== 3) return undefined;
  const peers = values.peers ? installedPeers((text) => process.stderr.write(`${text}\n`)) : [];
  const ofCluster = [...clusterBenchmarks(replicas), serveStart(values.before)];
  const ofApprovals = approvalsBenchmarks(values.before);
  const all = [...benchmarks, latency(peers)];
  const named = [...all, ...ofCluster, ...ofApprovals].filter(({ name }) => names.includes(name));
  const flagged = [...(values.cluster ? ofCluster : []), ...(values.approvals ? ofApprovals : [])];
  const unnamed = flagged.length > 0 ? flagged : [...all, ...peers.map(peerRows)];
  const chosen = names.length === 0 ? unnamed : named;
  return { chosen, rounds, json: values.json };
}

async function runAll({ chosen, rounds }) {
  const workspace = new Workspace();
  const results = [];
  let failures = 0;
  for (const benchmark of chosen) {
    try {
      results.push(await measure(benchmark, { workspace, rounds, progress }));
    } catch (error) {
      failures += 1;
      clearProgress();
      process.stderr.write(`${benchmark.name} could not run: ${error.stack}\n`);
    }
  }
  clearProgress();
  workspace.close();
  return { results, failures };
}

function usage() {
  const names = benchmarkNames.join(', ');
  process.stderr.write(
    `node bench/run.mjs [names…] [--cluster] [--approvals] [--replicas 1|3] [--before folder] [--peers] [--rounds n] [--json file]\nnames: ${names}\n`,
  );
  return 2;
}

/** Overwrites one line in a terminal; elsewhere prints a line per benchmark. */
function progress({ name, round, count, isFirst }) {
  const text = `${name}: round ${round} of ${count}`;
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
  else if (isFirst) process.stderr.write(`${name}: ${count} rounds\n`);
}

function clearProgress() {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}

function machine() {
  const [{ model }] = cpus();
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, Node ${process.version}, ${availableParallelism()} × ${model.trim()}`;
}

function noise(results) {
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  return `${sum('rounds')} rounds, of which ${sum('busy')} began on a busy machine`;
}

function json(results) {
  const rows = results.flatMap((result) => result.rows.map((row) => ({ ...row, verdict: verdict(row) })));
  const samples = Object.fromEntries(results.map((result) => [result.name, result.samples]));
  return `${JSON.stringify({ machine: machine(), noise: noise(results), rows, samples }, null, 2)}\n`;
}
