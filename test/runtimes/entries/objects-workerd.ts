/** A Worker with an endpoint for its objects' keepers, and for the contents of an object. */
import { env } from 'cloudflare:workers'
import { ServableError } from '../../../src/base/errors.ts'
import { asPlugin } from '../../../src/core/built-in.ts'
import { coreOf } from '../../../src/core/handler.ts'
import type {
  ObjectAddress,
  ObjectClassName,
  ObjectContext,
  ObjectService,
} from '../../../src/core/hosted.ts'
import { keeping } from '../../../src/core/plugin-store.ts'
import { Agent, createHandler, type LogEntry, type Plugin } from '../../../src/index.ts'
import {
  durableObjects,
  durableState,
  type ObjectClass,
  type ObjectState,
  worker,
} from '../../../src/runtimes/cloudflare.ts'
import type { SqlValue } from '../../../src/stores/sql/sql-driver.ts'
import type { Reader, Transaction } from '../../../src/stores/store.ts'

const log: LogEntry[] = []

const document = (id: string, expiresAt?: number) => ({
  id,
  partition: 'p',
  at: 1,
  tags: {},
  value: id,
  ...(expiresAt !== undefined && { expiresAt }),
})

/** A keeper that follows commands, and counts alarms. */
function keeperAs(name: string, { store, ...seat }: ObjectContext): ObjectService {
  let alarms = 0
  let next: number | undefined
  let fails = false
  const methods: Record<string, (...args: never[]) => unknown> = {
    put: (id: string) => store.write(tx => tx.put(name, document(id))),
    pass: (id: string) => store.write(tx => tx.put(`${name}-passing`, document(id))),
    passed: () => store.read(tx => tx.count(`${name}-passing`)),
    drop: (id: string) => store.write(tx => tx.delete(name, id)),
    wakeBy: (at: number) => seat.wakeBy(at),
    wakeAt: (at: number) => seat.wakeAt(at),
    /** Asks for both times at once. */
    wakeAtAndBy: (at: number, by: number) => Promise.all([seat.wakeAt(at), seat.wakeBy(by)]),
    letGo: () => seat.letGo(),
    /** Plans its behaviour at the next alarms. */
    plan(at: number | undefined, isFailing: boolean) {
      next = at
      fails = isFailing
    },
    alarms: () => alarms,
    refuse() {
      throw new ServableError('invalid_input', 'Not so', { issues: [{ path: 'a', message: 'is wrong' }] })
    },
    breakDown() {
      throw new TypeError('Out of order')
    },
    stream: () => new Blob(['one\n', 'two\n']).stream(),
  }
  return {
    collections: [name],
    inMemory: [`${name}-passing`],
    ask: (method, args) => methods[method]?.(...(args as never[])),
    async alarm() {
      alarms++
      if (fails) throw new TypeError('No alarm')
      if (next !== undefined) await seat.wakeBy(next)
    },
  }
}

const COUNTS = {
  reads: { get: (tx: Reader, id: string) => tx.get('count', id)?.value ?? null },
  writes: {
    put: (tx: Transaction, id: string, expiresAt: number) => tx.put('count', document(id, expiresAt)),
  },
  expiring: ['count'],
}

const notes: Plugin = {
  name: 'notes',
  kept: keeping({
    reads: { all: tx => tx.list('note', { limit: 10 }).map(({ id }) => id) },
    writes: {
      add: (tx, id: string, expiresAt?: number) =>
        tx.put('note', id, id, expiresAt === undefined ? {} : { expiresAt }),
    },
  }),
}

const echo = new Agent({
  name: 'echo',
  register: false,
  corrections: true,
  async *run(input) {
    yield 'You said: '
    yield String(input)
  },
})

const state = durableState()
const handler = createHandler({
  registry: false,
  agents: { echo },
  a2a: true,
  state,
  production: false,
  logger: entry => void log.push(entry),
  runs: { listAnonymous: true },
  plugins: [
    asPlugin({ name: 'one', objectServices: { run: seat => keeperAs('one', seat) } }),
    asPlugin({ name: 'two', objectServices: { run: seat => keeperAs('two', seat) } }),
    asPlugin({ name: 'counts', transactions: { counts: COUNTS } }),
    notes,
  ],
})
const made = durableObjects(handler)

/** The class with access to an object's contents. */
function open(Made: ObjectClass) {
  return class extends Made {
    readonly #state: ObjectState

    constructor(state: ObjectState, env: unknown) {
      super(state, env)
      this.#state = state
    }

    alarmAt(): Promise<number | null> {
      return this.#state.storage.getAlarm()
    }

    sql(query: string, ...values: SqlValue[]): unknown {
      return this.#state.storage.sql.exec(query, ...values).toArray()
    }

    /** Rings the alarm now. */
    async ring(): Promise<void> {
      await this.#state.storage.deleteAlarm()
      await (this as unknown as { alarm(): Promise<void> }).alarm()
    }
  }
}

export class ServableRun extends open(made.ServableRun) {}
export class ServableIndex extends open(made.ServableIndex) {}
export const { ServableMetrics, ServableGateway } = made

type Stub = Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>
interface Namespace {
  getByName(name: string): Stub
}

type Call =
  | {
      do: 'ask'
      className: ObjectClassName
      place: ObjectAddress
      keeper: string
      method: string
      args: unknown[]
    }
  | { do: 'look'; className: ObjectClassName; name: string; method: string; args: unknown[] }
  | { do: 'log' }
  | { do: 'objectsOf'; what: 'function' | 'options' }
  | { do: 'forward' }
  | { do: 'session'; place: string[]; sessionId: string }

const objects = (className: ObjectClassName) =>
  (env as Record<string, Namespace>)[`SERVABLE_${className.toUpperCase()}`]

async function answer(call: Call): Promise<unknown> {
  switch (call.do) {
    case 'ask':
      return state.reach(call.className, call.place, call.keeper)(call.method, ...call.args)
    case 'look':
      return objects(call.className)
        ?.getByName(call.name)
        [call.method]?.(...call.args)
    case 'log':
      return log.splice(0)
    case 'objectsOf':
      return Object.keys(durableObjects(call.what === 'function' ? () => {} : { agents: { echo } }))
    case 'forward':
      return (await state.forward('gateway')('gateway:0', new Request('http://x/'))).text()
    case 'session':
      return coreOf(handler)?.runs.memory?.sessions?.read({ owner: null, ...call })
  }
}

const serve = worker(handler)

const entry = {
  async fetch(request: Request, ...rest: [unknown, never]): Promise<Response> {
    if (new URL(request.url).pathname !== '/door') return serve(request, ...rest)
    try {
      const value = await answer((await request.json()) as Call)
      return value instanceof ReadableStream ? new Response(value) : Response.json({ value: value ?? null })
    } catch (error) {
      const { code, message, issues } = error as ServableError
      return Response.json({ code, message, issues }, { status: 400 })
    }
  },
}
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry
