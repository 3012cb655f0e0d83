/** The cost of counting a run, and of a scrape after many runs. Run with `npm run bench`. */

import { MetricsExporter } from '../src/index.ts'
import { microseconds } from './measure.ts'

const AGENTS = 50
const ROUNDS = 11
const RUNS = 1_000_000

const usage = { promptTokens: 900, completionTokens: 120, totalTokens: 1020 }
const servable = { run: async () => ({}) as never, model: { provider: 'acme', id: 'model-1' } }
const targets = Array.from({ length: AGENTS }, (_, index) => ({
  kind: 'agent' as const,
  name: `agent-${index}`,
  servable,
}))

const exporter = () => new MetricsExporter({ pricing: { 'model-1': { prompt: 3, completion: 15 } } })

/** Counts runs as the pipeline does: a start, a first text, in every tenth run a tool, an end. */
function record({ core }: MetricsExporter, count: number): void {
  for (let run = 0; run < count; run++) {
    const meter = core.start({ ...targets[run % AGENTS]!, runId: 'run' })
    meter.event({ type: 'text', text: 'word' })
    if (run % 10 === 0) meter.event({ type: 'tool_call_start', toolCall: { id: '1', name: 'search' } })
    meter.end({ type: 'finish', finishReason: 'stop', usage }, 20 + ((run * 7919) % 10_000) / 3)
  }
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

function timesOfRecord(): number[] {
  const metrics = exporter()
  record(metrics, RUNS)
  return Array.from({ length: ROUNDS }, () => {
    const startedAt = process.cpuUsage()
    record(metrics, RUNS)
    const { user, system } = process.cpuUsage(startedAt)
    return (user + system) / RUNS
  })
}

/** Milliseconds of CPU for one scrape after this many runs. */
async function timesOfScrape(runs: number): Promise<number[]> {
  const metrics = exporter()
  record(metrics, runs)
  await microseconds(50, () => metrics.text())
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = process.cpuUsage()
    await microseconds(20, () => metrics.text())
    const { user, system } = process.cpuUsage(startedAt)
    times.push((user + system) / 1000 / 20)
  }
  return times
}

function row(name: string, times: readonly number[], unit: string): string {
  const [least, most] = [Math.min(...times), Math.max(...times)]
  return `| ${name} | ${median(times).toFixed(2)} ${unit} | ${least.toFixed(2)}-${most.toFixed(2)} |`
}

console.log('| what | CPU | spread |\n|---|---|---|')
console.log(row('recording a run', timesOfRecord(), 'µs'))
console.log(row('a scrape of 50 agents after 50,000 runs', await timesOfScrape(50_000), 'ms'))
console.log(row('a scrape of 50 agents after 5,000,000 runs', await timesOfScrape(5_000_000), 'ms'))
