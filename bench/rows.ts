/**
 * The cost of operations on Workers, as Durable Objects count it themselves, and the load that one object bears. Run with
 * `npm run bench`.
 */

import type { Ledger } from '../test/runtimes/entries/metered.ts'
import { startWorkerd } from '../test/runtimes/harness.ts'
import { median } from './measure.ts'

/** USD for a million: rows written, rows read, and requests to objects or alarms. */
const PRICES = { written: 1, read: 0.001, request: 0.15 }

const WAIT_MS = 10_000

type Fields = Readonly<Record<string, string>>

const ENTRY = 'test/runtimes/entries/rows-workerd.ts'
const plain = await startWorkerd(ENTRY)
const measuring = await startWorkerd(ENTRY, { env: { METRICS: 'on' } })
// Forgets a run soon after its end.
const brief = await startWorkerd(ENTRY, { env: { RETENTION: '100' } })
let { url } = plain

const ask = async (path: string, body?: unknown, headers: Fields = {}): Promise<string> => {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
  const response = await fetch(url + path, body === undefined ? { headers } : init)
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return text
}

const look = async (): Promise<Ledger> => JSON.parse(await ask('/ledger'))
const take = async (): Promise<Ledger> => JSON.parse(await ask('/ledger', {}))

/** Waits until objects have had this many calls, and the run's own object has set its last alarm. */
async function settled(told: string, times = 1): Promise<void> {
  for (const until = performance.now() + WAIT_MS; performance.now() < until; ) {
    const { calls, last } = await look()
    if ((calls[told] ?? 0) >= times && last === 'ServableRun: setAlarm') return
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  throw new Error(`${told} was not called ${times} times`)
}

const own = (): Fields => ({ 'x-test-user': crypto.randomUUID() })
const follow = (agent: string, headers: Fields): Promise<string> =>
  ask(`/api/agents/${agent}/stream`, { input: 'x', background: true }, headers)
const sendMessage = (headers: Fields): Promise<string> => {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] }
  return ask('/message:send', { message }, { ...headers, 'a2a-version': '1.0' })
}

function line(name: string, ledgers: readonly Ledger[]): string {
  const of = (count: (ledger: Ledger) => number) => median(ledgers.map(count))
  const rows = of(ledger => ledger.rows)
  const calls = of(ledger => Object.values(ledger.calls).reduce((sum, times) => sum + times, 0))
  const objects = of(ledger => ledger.objects.length)
  const alarms = of(({ alarmsSet }) => alarmsSet)
  const rung = of(({ alarmsRun }) => alarmsRun)
  const read = of(({ readRows }) => readRows)
  const price = rows * PRICES.written + read * PRICES.read + (calls + rung) * PRICES.request
  return `| ${name} | ${objects} | ${calls} | ${rows} | ${alarms} | ${read} | ${price.toFixed(2)} |`
}

const ROUNDS = 5

/** Performs an operation a few times and counts its cost. `before` is not counted. */
async function spend(
  name: string,
  before: () => Promise<Fields>,
  operation: (headers: Fields) => Promise<unknown>,
): Promise<void> {
  const ledgers: Ledger[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const headers = await before()
    await take()
    await operation(headers)
    ledgers.push(await take())
  }
  console.log(line(name, ledgers))
}

const followed = async (agent: string, headers: Fields): Promise<void> => {
  const { calls } = await look()
  const told = calls['ServableIndex.core:run.update'] ?? 0
  await follow(agent, headers)
  await settled('ServableIndex.core:run.update', told + 1)
}
const known = async (): Promise<Fields> => {
  const owner = own()
  await followed('burst', owner)
  return owner
}
const busy = own()
for (let run = 0; run < 300; run++) await followed('burst', busy)

console.log('| operation | objects | calls | rows | alarms set | rows read | USD for a million |')
console.log('|---|---|---|---|---|---|---|')
await spend('a stored run of 50 pieces', known, owner => followed('burst', owner))
await spend(
  'the first run of an owner',
  async () => own(),
  owner => followed('burst', owner),
)
await spend(
  'a run of an owner with 300 others',
  async () => busy,
  owner => followed('burst', owner),
)
await spend(
  'a run with an idempotency key',
  async () => ({ ...(await known()), 'idempotency-key': crypto.randomUUID() }),
  owner => followed('burst', owner),
)
await spend('a run whose 50 pieces come 20 ms apart', known, owner => followed('paced', owner))
for (const [name, what] of [
  ['plain', 'a workflow of 10 steps with `resume: false`'],
  ['journalled', 'the same with a journal'],
] as const) {
  await spend(what, known, async owner => {
    await ask(`/api/workflows/${name}/run`, { input: 'x', background: true }, owner)
    await settled('ServableIndex.core:run.update')
  })
}
await spend('an A2A message', known, async owner => {
  await sendMessage(owner)
  await settled('ServableIndex.a2a.update', 2)
})
await spend(
  'a page of 50 runs',
  async () => busy,
  owner => ask('/api/runs?limit=50', undefined, owner),
)
await spend(
  'the record of a run',
  async () => {
    const owner = await known()
    const { runs } = JSON.parse(await ask('/api/runs', undefined, owner)) as { runs: { id: string }[] }
    return { ...owner, 'x-run': runs[0]?.id ?? '' }
  },
  ({ 'x-run': id, ...owner }) => ask(`/api/runs/${id}`, undefined, owner),
)

/** Makes short runs at this rate, for longer than an isolate holds its metrics. */
async function metricsOf(perSecond: number): Promise<string> {
  await ask('/api/metrics/json')
  await take()
  const seconds = 20
  const startedAt = performance.now()
  for (let run = 0; run < perSecond * seconds; run++) {
    const due = startedAt + (run * 1000) / perSecond
    await new Promise(resolve => setTimeout(resolve, Math.max(0, due - performance.now())))
    await ask('/api/agents/burst/run', { input: 'x' })
  }
  await ask('/api/metrics/json')
  const { rows, calls } = await take()
  const runs = perSecond * seconds
  return `| ${perSecond} | ${(rows / runs).toFixed(3)} | ${((calls['ServableMetrics.add'] ?? 0) / runs).toFixed(3)} |`
}

url = brief.url
await spend(
  'a stored run, until it is forgotten',
  async () => own(),
  async owner => {
    await follow('burst', owner)
    for (const until = performance.now() + WAIT_MS; performance.now() < until; ) {
      if ((await look()).calls['ServableIndex.core:run.remove'] !== undefined) return
      await new Promise(resolve => setTimeout(resolve, 5))
    }
    throw new Error('The run was not forgotten')
  },
)

url = measuring.url
console.log('\n| plain runs a second | rows a run | calls a run |')
console.log('|---|---|---|')
for (const perSecond of [1, 10, 100]) console.log(await metricsOf(perSecond))
await plain.stop()
await measuring.stop()
await brief.stop()

/** Calls that one object answers in a second, with this many at a time. `what` names the call. */
async function bears(what: string, calls: number): Promise<string> {
  const objects = await startWorkerd('bench/servers/workerd-objects.ts')
  const rates: number[] = []
  for (let round = 0; round < ROUNDS + 1; round++) {
    const answer = await fetch(`${objects.url}/?what=${what}&calls=${calls}&round=${round}`)
    if (!answer.ok) throw new Error(await answer.text())
    // The first round warms up.
    if (round > 0) rates.push(calls / (Number(await answer.text()) / 1000))
  }
  await objects.stop()
  const [low, high] = [Math.min(...rates), Math.max(...rates)]
  return `${Math.round(median(rates))} | ${Math.round(low)}-${Math.round(high)}`
}

console.log('\n| one object | calls a second | spread |')
console.log('|---|---|---|')
for (const [name, what] of [
  ['index: a run is listed', 'admit'],
  ['index: a run is listed, where 20,000 are', 'admit-large'],
  ['index: a page of 50', 'list'],
  ['idempotency key: asked again', 'reserve'],
  ['rate limit: a request is counted', 'count'],
  ['metrics: a batch is added', 'add'],
  ['tool servers: a call', 'call'],
] as const) {
  console.log(`| ${name} | ${await bears(what, what === 'list' ? 500 : 2000)} |`)
}
