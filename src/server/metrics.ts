/** Label values by name. */
export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(labels?: Labels, amount?: number): void;
}

export interface Gauge {
  set(value: number, labels?: Labels): void;
}

export interface Histogram {
  observe(value: number): void;
}

/** Series that a metric distinguishes; later ones are counted together as `other`. */
export const MAX_SERIES = 100;
// Longer label values are truncated.
const MAX_LABEL_CHARACTERS = 100;

const NAME = /^tau_[a-z][a-z0-9_]*$/;

interface Metric {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly lines: (name: string) => Iterable<string>;
}

/** Collects metrics and prints them in the Prometheus text format. */
export class Metrics {
  readonly #metrics = new Map<string, Metric>();

  /** A value that only grows. Without labels it starts at 0. */
  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    const series = new SeriesMap(labels);
    this.#register(name, { kind: 'counter', help, lines: (name) => series.lines(name) });
    return { add: (labels = {}, amount = 1) => series.change(labels, (value) => value + amount) };
  }

  /** A value that rises and falls. Without labels it starts at 0. */
  gauge(name: string, help: string, labels: readonly string[] = []): Gauge {
    const series = new SeriesMap(labels);
    this.#register(name, { kind: 'gauge', help, lines: (name) => series.lines(name) });
    return { set: (value, labels = {}) => series.change(labels, () => value) };
  }

  /** A value that is read on scrape: one number, or one for each set of labels. */
  scrape(name: string, { kind, help }: Pick<Metric, 'kind' | 'help'>, read: () => number | Iterable<[Labels, number]>) {
    const lines = (name: string) => {
      const values = read();
      if (typeof values === 'number') return [formatLine(name, {}, values)];
      const series = new SeriesMap(['any']);
      for (const [labels, value] of values) series.change(labels, (before) => before + value);
      return series.lines(name);
    };
    this.#register(name, { kind, help, lines });
  }

  /** The distribution of values over buckets with upper bounds. */
  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    const counts = bounds.map(() => 0);
    let count = 0;
    let sum = 0;
    const lines = function* (name: string) {
      for (const [index, bound] of bounds.entries())
        yield formatLine(`${name}_bucket`, { le: formatNumber(bound) }, counts[index] ?? 0);
      yield formatLine(`${name}_bucket`, { le: '+Inf' }, count);
      yield formatLine(`${name}_sum`, {}, sum);
      yield formatLine(`${name}_count`, {}, count);
    };
    this.#register(name, { kind: 'histogram', help, lines });
    return {
      observe: (value) => {
        count++;
        sum += value;
        for (const [index, bound] of bounds.entries()) if (value <= bound) counts[index] = (counts[index] ?? 0) + 1;
      },
    };
  }

  /** All metrics in the Prometheus text format. */
  text(): string {
    const lines: string[] = [];
    for (const [name, { kind, help, lines: values }] of this.#metrics) {
      lines.push(`# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`, `# TYPE ${name} ${kind}`);
      lines.push(...values(name));
    }
    return `${lines.join('\n')}\n`;
  }

  #register(name: string, metric: Metric): void {
    if (!NAME.test(name)) throw new Error(`${name} is no name for a metric`);
    if (this.#metrics.has(name)) throw new Error(`${name} is counted already`);
    this.#metrics.set(name, metric);
  }
}

/** Registers CPU time and memory, read on scrape. */
export function registerProcessMetrics(metrics: Metrics): void {
  metrics.scrape('tau_process_cpu_seconds_total', { kind: 'counter', help: 'Time on the processor.' }, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  metrics.scrape('tau_process_resident_bytes', { kind: 'gauge', help: 'Memory in use.' }, () =>
    process.memoryUsage.rss(),
  );
}

interface Series {
  readonly labels: Labels;
  value: number;
}

/** The series of one metric, by labels. */
class SeriesMap {
  readonly #series = new Map<string, Series>();

  constructor(labels: readonly string[]) {
    if (labels.length === 0) this.#find({});
  }

  change(labels: Labels, change: (before: number) => number): void {
    const series = this.#find(labels);
    series.value = change(series.value);
  }

  *lines(name: string): Iterable<string> {
    for (const { labels, value } of this.#series.values()) yield formatLine(name, labels, value);
  }

  #find(labels: Labels): Series {
    const truncated = mapValues(labels, (value) => value.slice(0, MAX_LABEL_CHARACTERS));
    const known = this.#series.get(seriesKey(truncated));
    if (known) return known;
    const kept = this.#series.size < MAX_SERIES ? truncated : mapValues(labels, () => 'other');
    const series = this.#series.get(seriesKey(kept)) ?? { labels: kept, value: 0 };
    this.#series.set(seriesKey(kept), series);
    return series;
  }
}

const mapValues = (labels: Labels, change: (value: string) => string): Labels =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, change(value)]));

const seriesKey = (labels: Labels) => Object.entries(labels).flat().join('\0');

function formatLine(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${formatNumber(value)}`;
}

const escapeLabel = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const formatNumber = (value: number) => (value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : String(value));
