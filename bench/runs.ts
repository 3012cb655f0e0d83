/**
 * The cost of a stored run compared with a plain stream, and of a full store compared with an almost empty one. Run with `npm
 * run bench`. `node bench/runs.ts measure` compares runs with their numbers with runs without alone.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LocalState } from '../src/core/local-state.ts'
import type { State } from '../src/core/options.ts'
import { createHandler, type Handler, memoryState, type ServableAgent } from '../src/index.ts'
import type { RunHost } from '../src/runs/stored/host.ts'
import { createLocalHost } from '../src/runs/stored/local-host.ts'
import { sqliteState } from '../src/runtimes/sqlite.ts'
import { type Runtime, startWorkerd } from '../test/runtimes/harness.ts'
import { type Comparison, compare, microseconds, table } from './measure.ts'
import { echo, many, STREAM_EVENTS } from './servers/agents.ts'
import { SETTINGS } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'servable-bench-'))
const step = (text: string) => console.error(`… ${text}`)

type Answer = (body: string) => Promise<Response>

const headers = { 'content-type': 'application/json' }
const plain = JSON.stringify({ input: 'x' })
const background = JSON.stringify({ input: 'x', background: true })

const inProcess =
  (handler: Handler): Answer =>
  body =>
    handler(new Request('http://127.0.0.1/api/agents/many/stream', { method: 'POST', body, headers }))
const overLoopback =
  (server: Runtime): Answer =>
  body =>
    fetch(`${server.url}/api/agents/many/stream`, { method: 'POST', body, headers })

async function drain(answer: Promise<Response>): Promise<void> {
  const reader = (await answer).body!.getReader()
  while (!(await reader.read()).done);
}

/** Compares a stored stream with a plain one of the same handler. */
function compareStreams(name: string, answer: Answer, count: number): Promise<Comparison> {
  const perEvent = (body: string) => async () =>
    (await microseconds(count, () => drain(answer(body)))) / (STREAM_EVENTS + 1)
  return compare(name, 'µs', { measured: perEvent(background), reference: perEvent(plain) })
}

function handlerOn(state: State): Handler {
  return createHandler({
    registry: false,
    production: true,
    agents: { many },
    state,
    runs: { store: 'asked' },
  })
}

const target = { kind: 'agent', name: 'echo', servable: echo } as const
const start = (host: RunHost, owner: string) =>
  host.start({ target, input: 'x', options: {}, owner, isBackground: true })

/** A host with this many ended runs of one owner. */
async function filled(state: LocalState, runs: number): Promise<{ host: RunHost; id: string }> {
  const host = createLocalHost({ ...state, settings: SETTINGS })
  const never = new AbortController().signal
  let id = ''
  for (let i = 0; i < runs; i++) {
    id = (await start(host, 'owner')).id
    await host.wait(id, 'owner', never)
  }
  return { host, id }
}

async function compareFill(name: string, make: (size: string) => LocalState): Promise<Comparison[]> {
  step(`${name}: filling`)
  const [full, small] = [await filled(make('full'), 100_000), await filled(make('small'), 100)]
  const never = new AbortController().signal
  const acts: [string, (filled: { host: RunHost; id: string }) => Promise<unknown>][] = [
    ['get', ({ host, id }) => host.get(id, 'owner')],
    ['list a page of 50', ({ host }) => host.list('owner', { limit: 50 })],
    ['start and end a run', async ({ host }) => host.wait((await start(host, 'owner')).id, 'owner', never)],
  ]
  const comparisons: Comparison[] = []
  for (const [what, act] of acts) {
    const timed = (one: { host: RunHost; id: string }) => () => microseconds(300, () => act(one))
    comparisons.push(
      await compare(`${name}: ${what}`, 'µs', { measured: timed(full), reference: timed(small) }),
    )
  }
  return comparisons
}

/** Mean CPU time of `count` sequential operations, in microseconds: the difference is too small for a clock that others slow down. */
async function cpuMicroseconds(count: number, operation: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < count; i++) await operation()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

/** Compares a run whose numbers are in its record with one without. */
async function compareMeasured(name: string, make: (size: string) => LocalState): Promise<Comparison[]> {
  const never = new AbortController().signal
  const hostOf = (measure: boolean, servable: ServableAgent) => {
    const host = createLocalHost({
      ...make(`${servable.name}-${measure}`),
      settings: { ...SETTINGS, measure },
    })
    const asked = { target: { kind: 'agent', name: servable.name, servable }, input: 'x' } as const
    const request = { ...asked, options: {}, owner: 'owner', isBackground: true }
    const transport = measure ? { transport: 'http' } : {}
    return async () => host.wait((await host.start({ ...request, ...transport })).id, 'owner', never)
  }
  const compared = (what: string, servable: ServableAgent, count: number) => {
    const timed = (act: () => Promise<unknown>) => () => cpuMicroseconds(count, act)
    const [measured, reference] = [timed(hostOf(true, servable)), timed(hostOf(false, servable))]
    return compare(`${name}: ${what}`, 'µs', { measured, reference })
  }
  return [
    await compared('a run of one event', echo as unknown as ServableAgent, 300),
    await compared('a run of 2,000 events', many as unknown as ServableAgent, 10),
  ]
}

async function compareOnWorkerd(): Promise<Comparison> {
  const server = await startWorkerd('bench/servers/workerd-stored.ts')
  try {
    return await compareStreams('Durable Objects, workerd, loopback', overLoopback(server), 5)
  } finally {
    await server.stop()
  }
}

async function measured(): Promise<void> {
  step('`runs.measure` on against off')
  const bounds = { maxRuns: 1000, maxAgeMs: 86_400_000 }
  const comparisons = [
    ...(await compareMeasured('memory', () => memoryState(bounds))),
    ...(await compareMeasured('SQLite', size =>
      sqliteState({ maxRuns: bounds.maxRuns, path: join(folder, `${size}.db`) }),
    )),
  ]
  console.log(`\n${table(comparisons, ['measured', 'not measured'])}`)
}

async function others(): Promise<void> {
  step('followed against plain')
  const sqlite = sqliteState({ path: join(folder, 'streams.db') })
  const streams = [
    await compareStreams('memory, in one process', inProcess(handlerOn(memoryState({ maxRuns: 10 }))), 20),
    await compareStreams('SQLite, in one process', inProcess(handlerOn(sqlite)), 3),
    await compareOnWorkerd(),
  ]
  sqlite.store.close()
  console.log(table(streams, ['followed, an event', 'plain, an event']))

  const keepAll = { maxRuns: 1_000_000, maxAgeMs: 86_400_000 }
  const fills = [
    ...(await compareFill('memory', () => memoryState(keepAll))),
    ...(await compareFill('SQLite', size => sqliteState({ path: join(folder, `${size}.db`) }))),
  ]
  console.log(`\n${table(fills, ['100,000 runs kept', '100 runs kept'])}`)
}

try {
  await measured()
  if (process.argv[2] !== 'measure') await others()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
