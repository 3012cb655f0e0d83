/**
 * The cost of operations on Workers, as Durable Objects count it themselves, and the load that one object bears. Run with
 * `npm run bench`, or some of its parts: `node bench/rows.ts webhooks queue`. What it measures becomes the tables of prices.
 */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import type { Ledger } from '../test/runtimes/entries/metered.ts'
import { startWorkerd } from '../test/runtimes/harness.ts'
import { median } from './measure.ts'
import { type Cost, figures, keep, usdOf } from './prices.ts'

const WAIT_MS = 30_000

/** Milliseconds without a change after which an operation counts as done. */
const QUIET_MS = 300

type Fields = Readonly<Record<string, string>>

const ENTRY = 'test/runtimes/entries/rows-workerd.ts'
const DAY_MS = '86400000'

/** The address of the Worker that is measured now. */
let url = ''

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
const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

/** Gives what was spent, once this holds and nothing more is written. */
async function spent(isDone: (ledger: Ledger) => boolean): Promise<Ledger> {
  let before = ''
  let changedAt = performance.now()
  for (const until = performance.now() + WAIT_MS; performance.now() < until; await sleep(20)) {
    const ledger = await look()
    const now = JSON.stringify(ledger)
    if (now !== before) changedAt = performance.now()
    before = now
    if (isDone(ledger) && performance.now() - changedAt > QUIET_MS) return take()
  }
  throw new Error(`The operation did not end: ${before}`)
}

/** Whether a method was called as often. */
const called =
  (method: string, times = 1) =>
  ({ calls }: Ledger): boolean =>
    (calls[method] ?? 0) >= times
const ended = (times = 1) => called('ServableIndex.core:run.update', times)
const always = () => true

const own = (): Fields => ({ 'x-test-user': crypto.randomUUID() })
const follow = (agent: string, headers: Fields, more: object = {}): Promise<string> =>
  ask(`/api/agents/${agent}/stream`, { input: 'x', background: true, ...more }, headers)
const start = async (agent: string, headers: Fields): Promise<{ status: string }> =>
  JSON.parse(await ask(`/api/agents/${agent}/run`, { input: 'x' }, { ...headers, prefer: 'respond-async' }))
const sendMessage = (headers: Fields): Promise<string> => {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] }
  return ask('/message:send', { message }, { ...headers, 'a2a-version': '1.0' })
}

function costOf({ rows, calls, objects, alarmsSet, alarmsRun, readRows }: Ledger): Cost {
  const sum = Object.values(calls).reduce((total, times) => total + times, 0)
  return {
    objects: objects.length,
    calls: sum,
    rows,
    alarmsSet,
    alarmsRung: alarmsRun,
    rowsRead: readRows,
  }
}

const ROUNDS = 5

/** An operation: what has to be there before, what is done, and when it is over. */
interface Operation {
  readonly before?: () => Promise<Fields>
  readonly act: (headers: Fields) => Promise<unknown>
  readonly isDone?: (ledger: Ledger) => boolean
}

/** Performs an operation a few times, and gives the median of each cost. `before` is not counted. */
async function costsOf({ before = known, act, isDone = ended() }: Operation): Promise<Cost> {
  const costs: Cost[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const headers = await before()
    await take()
    await act(headers)
    const ledger = await spent(isDone)
    if (process.env.SHOW_ROWS) console.log(JSON.stringify(ledger, null, 1))
    costs.push(costOf(ledger))
  }
  const of = (key: keyof Cost) => median(costs.map(cost => cost[key]))
  return {
    objects: of('objects'),
    calls: of('calls'),
    rows: of('rows'),
    alarmsSet: of('alarmsSet'),
    alarmsRung: of('alarmsRung'),
    rowsRead: of('rowsRead'),
  }
}

async function known(): Promise<Fields> {
  const owner = own()
  await take()
  await follow('burst', owner)
  await spent(ended())
  return owner
}

const anew = async (): Promise<Fields> => own()

/** Measures operations on a Worker of their own, and keeps and prints what they cost. */
async function measure(
  env: Record<string, string>,
  operations: Readonly<Record<string, Operation | (() => Promise<Cost>)>>,
): Promise<void> {
  const server = await startWorkerd(ENTRY, { env: { RETENTION: DAY_MS, ...env } })
  url = server.url
  try {
    for (const [name, operation] of Object.entries(operations)) {
      const cost = await (typeof operation === 'function' ? operation() : costsOf(operation))
      keep({ operations: { ...figures().operations, [name]: cost } })
      console.log(`${name}: ${JSON.stringify(cost)}, ${usdOf(cost).toFixed(2)} USD for a million`)
    }
  } finally {
    await server.stop()
  }
}

const burst: Operation = { act: owner => follow('burst', owner) }

async function runs(): Promise<void> {
  const busy = own()
  await measure(
    {},
    {
      'a plain run': { act: owner => ask('/api/agents/burst/run', { input: 'x' }, owner), isDone: always },
      'a stored run': burst,
      'a stored run, the first of its owner': { ...burst, before: anew },
      'a stored run of an owner with 300 others': {
        ...burst,
        async before() {
          const { runs: some } = JSON.parse(await ask('/api/runs?limit=1', undefined, busy))
          if (some.length === 0) for (let run = 0; run < 300; run++) await follow('burst', busy)
          await spent(always)
          return busy
        },
      },
      'a stored run with an idempotency key': {
        ...burst,
        before: async () => ({ ...(await known()), 'idempotency-key': crypto.randomUUID() }),
      },
      'a stored run whose pieces come 20 ms apart': { act: owner => follow('paced', owner) },
      'a page of 50 runs': {
        before: async () => busy,
        act: owner => ask('/api/runs?limit=50', undefined, owner),
        isDone: always,
      },
      'the record of a run': {
        async before() {
          const owner = await known()
          const { runs: page } = JSON.parse(await ask('/api/runs', undefined, owner))
          return { ...owner, 'x-run': page[0].id }
        },
        act: ({ 'x-run': id, ...owner }) => ask(`/api/runs/${id}`, undefined, owner),
        isDone: always,
      },
    },
  )
  const remove = called('ServableIndex.core:run.remove')
  // Forgets a run soon after its end.
  await measure(
    { RETENTION: '100' },
    {
      'a stored run, the first of its owner, until it is forgotten': {
        ...burst,
        before: anew,
        isDone: remove,
      },
    },
  )
}

/** Ten steps: what a step costs is a tenth of the difference. */
const workflow = (name: string): Operation => ({
  act: owner => ask(`/api/workflows/${name}/run`, { input: 'x', background: true }, owner),
})

const workflows = (): Promise<void> =>
  measure(
    {},
    {
      'a stored workflow of 10 steps, with `resume: false`': workflow('plain'),
      'a stored workflow of 10 steps that can go on': workflow('journalled'),
    },
  )

/** The request of a run that waits, as its stream tells it. */
const requestIn = (stream: string): string => /"requests":\[\{"id":"([^"]+)"/.exec(stream)?.[1] ?? ''

const approvals = (): Promise<void> =>
  measure(
    {},
    {
      'a stored run that waits for an approval, and the run that goes on': {
        async act(owner) {
          const id = requestIn(await follow('pays', owner))
          const answers = [{ id, decision: 'approve' }]
          const headers = { ...owner, prefer: 'respond-async' }
          await ask(`/api/runs/${id.split('/')[0]}/answers`, { answers }, headers)
        },
        isDone: ended(2),
      },
    },
  )

/** An owner with a session that has a turn. */
async function talking(): Promise<Fields> {
  const owner = await known()
  await take()
  await follow('burst', owner, { sessionId: 's' })
  await spent(ended())
  return owner
}

const turn: Operation = { act: owner => follow('burst', owner, { sessionId: 's' }) }

async function sessions(): Promise<void> {
  const turns = {
    'a stored run with a `sessionId`, the first of its session': turn,
    'a stored run with a `sessionId`, a later one': { ...turn, before: talking },
  }
  await measure({}, turns)
  await measure(
    { PART: 'sessions' },
    Object.fromEntries(Object.entries(turns).map(([name, of]) => [`${name}, with \`sessions()\``, of])),
  )
}

const a2a = (): Promise<void> =>
  measure(
    {},
    {
      'an A2A message, the first of its context': {
        act: sendMessage,
        isDone: called('ServableIndex.a2a.update', 2),
      },
    },
  )

const respond =
  (body: object) =>
  (owner: Fields): Promise<string> =>
    ask('/v1/responses', { model: 'burst', input: 'x', ...body }, owner)

const openai = (): Promise<void> =>
  measure(
    {},
    {
      "a kept response of OpenAI's interface": { act: respond({}) },
      "a response of OpenAI's interface with `store: false`": {
        act: respond({ store: false }),
        isDone: always,
      },
    },
  )

/** A receiver of webhooks that takes all. */
async function webhooks(): Promise<void> {
  let taken = 0
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => {
      taken++
      response.writeHead(204).end()
    })
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  const RECEIVER = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  let told = 0
  // Each run before is told of, too.
  const delivered: Operation = {
    async before() {
      const owner = await known()
      told = taken
      return owner
    },
    act: owner => follow('burst', owner),
    isDone: ledger => ended()(ledger) && taken > told,
  }
  try {
    await measure(
      { PART: 'webhooks', RECEIVER },
      {
        'a stored run with a webhook, which is delivered': delivered,
        'a stored run with a webhook that has 300 deliveries': {
          ...delivered,
          async before() {
            while (taken < 300) await follow('burst', own())
            return (await delivered.before?.()) ?? {}
          },
        },
      },
    )
  } finally {
    receiver.close()
  }
}

/** What the second run of a client costs that may have one at work: less what the first one costs by itself. */
async function waiting(): Promise<Cost> {
  const first = async (owner: Fields) => {
    await start('held', owner)
    await spent(always)
  }
  const release = () => ask('/release', {})
  const alone = await costsOf({
    async before() {
      const owner = await known()
      await first(owner)
      return owner
    },
    act: release,
  })
  const both = await costsOf({
    async before() {
      const owner = await known()
      await first(owner)
      return owner
    },
    async act(owner) {
      const { status } = await start('burst', owner)
      if (status !== 'queued') throw new Error(`The run is ${status}`)
      await release()
    },
    isDone: ended(2),
  })
  const less = (key: keyof Cost) => both[key] - alone[key]
  return {
    // Nobody calls the object of the first run.
    objects: both.objects,
    calls: less('calls'),
    rows: less('rows'),
    alarmsSet: less('alarmsSet'),
    alarmsRung: less('alarmsRung'),
    rowsRead: less('rowsRead'),
  }
}

const queue = (): Promise<void> =>
  measure(
    { PART: 'queue' },
    {
      'a stored run with `queue()` that need not wait': {
        act: owner => start('burst', owner),
      },
      'a stored run with `queue()` that waits for its place': waiting,
    },
  )

const budgets = (): Promise<void> =>
  measure(
    { PART: 'budgets' },
    {
      'a plain run with a budget': {
        async before() {
          const owner = own()
          await take()
          await ask('/api/agents/burst/run', { input: 'x' }, owner)
          await spent(called('ServableIndex.budgets.settle'))
          return owner
        },
        act: owner => ask('/api/agents/burst/run', { input: 'x' }, owner),
        isDone: called('ServableIndex.budgets.settle'),
      },
    },
  )

async function newKey(): Promise<Fields> {
  const admin = { authorization: 'Bearer token-of-the-administrator' }
  const { key } = JSON.parse(await ask('/api/keys', { owner: 'ada', name: 'k', scopes: ['all'] }, admin))
  return { authorization: `Bearer ${key}` }
}

const listAgents = (headers: Fields): Promise<string> => ask('/api/agents', undefined, headers)

const keys = (): Promise<void> =>
  measure(
    { PART: 'keys' },
    {
      'a request with a key that the isolate does not remember': {
        async before() {
          const key = await newKey()
          await listAgents(key)
          await spent(always)
          return key
        },
        act: listAgents,
        isDone: always,
      },
      'the first request in an hour with a key': { before: newKey, act: listAgents, isDone: always },
    },
  )

const schedules = (): Promise<void> =>
  measure(
    { PART: 'schedules' },
    {
      'a tick of a schedule, with its run': {
        async before() {
          await ask('/ring', {})
          // The end of a tick: the next one comes seconds later.
          await spent(ended())
          return {}
        },
        act: async () => {},
      },
    },
  )

const files = (): Promise<void> =>
  measure(
    { PART: 'files' },
    {
      'a stored run with a file of 100 KB that no other run made': {
        before: anew,
        act: owner => follow('painter', owner),
      },
    },
  )

const guards = (): Promise<void> => measure({ PART: 'guards' }, { 'a stored run with `guards()`': burst })

/** Makes short runs at this rate, for longer than an isolate holds its metrics. */
async function metricsOf(perSecond: number): Promise<string> {
  await ask('/api/metrics/json')
  await take()
  const seconds = 20
  const startedAt = performance.now()
  for (let run = 0; run < perSecond * seconds; run++) {
    const due = startedAt + (run * 1000) / perSecond
    await sleep(Math.max(0, due - performance.now()))
    await ask('/api/agents/burst/run', { input: 'x' })
  }
  await ask('/api/metrics/json')
  const { rows, calls } = await take()
  const made = perSecond * seconds
  const added = calls['ServableMetrics.metrics.add'] ?? 0
  return `| ${perSecond} | ${(rows / made).toFixed(3)} | ${(added / made).toFixed(3)} |`
}

async function metrics(): Promise<void> {
  const server = await startWorkerd(ENTRY, { env: { PART: 'metrics' } })
  url = server.url
  console.log('\n| plain runs a second | rows a run | calls a run |')
  console.log('|---|---|---|')
  for (const perSecond of [1, 10, 100]) console.log(await metricsOf(perSecond))
  await server.stop()
}

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

async function objects(): Promise<void> {
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
}

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  runs,
  sessions,
  workflows,
  approvals,
  a2a,
  openai,
  webhooks,
  queue,
  budgets,
  keys,
  schedules,
  files,
  guards,
  metrics,
  objects,
}

const names = process.argv.slice(2)
const unknown = names.filter(name => PARTS[name] === undefined)
if (unknown.length > 0) throw new Error(`There is no part ${unknown}: give ${Object.keys(PARTS).join(', ')}`)
for (const name of names.length > 0 ? names : Object.keys(PARTS)) await PARTS[name]?.()
