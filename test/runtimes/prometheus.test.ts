/**
 * A real Prometheus, where it is installed (Debian's package `prometheus`), as it is on CI.
 *
 * @module-tag long
 */
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished, vi } from 'vitest'
import { expectCounted, newCount, note, transports } from '../contracts/metrics/client.ts'
import { served } from '../contracts/served.ts'
import { needing } from '../needing.ts'
import { startWorkerd } from './harness.ts'
import { root } from './process.ts'

const run = promisify(execFile)
const WAIT = { timeout: 60_000, interval: 200 }

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Starts it with the configuration of docs/run/metrics.md, each second. */
async function startPrometheus(target: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'servable-prometheus-'))
  const docs = await readFile(join(root, 'docs/run/metrics.md'), 'utf8')
  const config = /```yaml\n([\s\S]*?)```/.exec(docs)?.[1] ?? ''
  const own = config.replace('15s', '1s').replace('127.0.0.1:8787', new URL(target).host)
  await writeFile(join(folder, 'prometheus.yml'), own)
  await run('promtool', ['check', 'config', join(folder, 'prometheus.yml')])
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: 'ignore' },
  )
  const closed = new Promise(resolve => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill()
    await closed
    await rm(folder, { recursive: true, force: true })
  })
  return `http://${address}`
}

/** What a query gives, by its labels. */
async function query(prometheus: string, expression: string): Promise<Map<string, number>> {
  const response = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(expression)}`)
  const { data } = (await response.json()) as {
    data: { result: { metric: Record<string, string>; value: [number, string] }[] }
  }
  return new Map(
    data.result.map(({ metric, value }) => {
      const { __name__, instance, job, ...labels } = metric
      return [JSON.stringify(labels), Number(value[1])]
    }),
  )
}

needing('prometheus').describe('a real Prometheus', () => {
  const server = served(async () => ({
    ...(await startWorkerd('test/contracts/metrics/service.ts')),
    folder: undefined,
  }))

  it('reads what a client that counts has seen, to the last run', { timeout: 300_000 }, async () => {
    const prometheus = await startPrometheus(server().url)
    const counts = { worker: newCount(), 'quoted "one"\\': newCount() }
    for (const [agent, count] of Object.entries(counts)) {
      const ways = await transports(server, agent)
      for (const fate of ['answer', 'tool', 'fail', 'cancel', 'answer'] as const) {
        for (const way of Object.values(ways)) {
          await way(fate)
          note(count, fate)
        }
      }
      await expectCounted(server, agent, count)
    }
    const expected = (name: 'runs' | 'errors' | 'tools') =>
      new Map(Object.entries(counts).map(([agent, count]) => [JSON.stringify({ agent }), count[name]]))
    await vi.waitFor(async () => {
      expect(await query(prometheus, 'service_agent_runs_total')).toEqual(expected('runs'))
      expect(await query(prometheus, 'service_agent_errors_total')).toEqual(expected('errors'))
      expect(await query(prometheus, 'service_agent_tool_calls_total')).toEqual(expected('tools'))
      const cancels = await query(prometheus, 'service_agent_runs_by_outcome_total{outcome="cancelled"}')
      expect([...cancels.values()]).toEqual([4, 4])
      const durations = await query(prometheus, 'service_agent_run_duration_seconds_count')
      expect([...durations.values()]).toEqual([20, 20])
    }, WAIT)
    const p95 = 'histogram_quantile(0.95, sum by (agent, le) (service_agent_run_duration_seconds_bucket))'
    expect((await query(prometheus, p95)).size).toBe(2)
  })

  it('finds nothing wrong with the text but the two abbreviated units that are specified', async () => {
    const text = await (await fetch(`${server().url}/api/metrics`)).text()
    const agentsOnly = text
      .split('\n')
      .filter(line => !/service_(team|workflow)_/.test(line))
      .join('\n')
    const said = await new Promise<string>((resolve, reject) => {
      const child = execFile('promtool', ['check', 'metrics'], (_error, stdout, stderr) =>
        resolve(stdout + stderr),
      )
      child.once('error', reject)
      child.stdin?.end(agentsOnly)
    })
    const lines = said.split('\n').filter(line => line !== '')
    expect(lines).toHaveLength(2)
    for (const line of lines)
      expect(line).toMatch(
        /^service_agent_duration_ms_(avg|p95) metric names should not contain abbreviated units/,
      )
  })

  it('answers every query of the dashboard', { timeout: 300_000 }, async () => {
    const prometheus = await startPrometheus(server().url)
    const { panels } = JSON.parse(await readFile(join(root, 'docs/run/grafana-dashboard.json'), 'utf8'))
    const expressions: string[] = panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
      targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '1m')),
    )
    expect(expressions.length).toBeGreaterThan(10)
    const known = await (await fetch(`${server().url}/api/metrics`)).text()
    for (const name of expressions.join().match(/service_\w+/g) ?? []) expect(known).toContain(name)
    await vi.waitFor(async () => {
      for (const expression of expressions) {
        const response = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(expression)}`)
        expect([response.status, expression]).toEqual([200, expression])
      }
    }, WAIT)
  })
})
