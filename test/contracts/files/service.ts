/**
 * The service of the contract of files. Every runtime serves it as it is, with the state of its own. Elsewhere than below `/api`
 * it tells the names in its own store of files.
 */
import { type FileStore, files } from '../../../src/features/files/plugin.ts'
import {
  Agent,
  type ContentPart,
  createHandler,
  type Handler,
  type HandlerOptions,
  type RunEvent,
  type RunsOptions,
  type State,
  textOf,
} from '../../../src/index.ts'
import { toBase64 } from '../../../src/web/base64.ts'
import { identify } from '../identify.ts'
import { bytesOf, type Made } from './bytes.ts'

const MAX_FILE_BYTES = 5 * 1024 * 1024
const MAX_BYTES_PER_OWNER = 6 * 1024 * 1024

/** Settings: those that begin with `own` have a store of their own, those that end with `brief` runs and sessions that are gone soon. */
const runsOf = (settings: string): RunsOptions =>
  settings.endsWith('brief') ? { retentionMs: 1500, sessionRetentionMs: 1500, timeoutMs: 3000 } : {}

/** A part whose data may be a file that is made when it is said. */
function toPart(part: Readonly<Record<string, unknown>>): ContentPart {
  const { made, url, ...rest } = part as { made?: Made; url?: string }
  if (made === undefined) return part as unknown as ContentPart
  return { ...rest, data: `${url ?? ''}${toBase64(bytesOf(made))}` } as unknown as ContentPart
}

/** Says the events that its input has as JSON. */
export const says: Agent = new Agent({
  name: 'says',
  register: false,
  async *run(input) {
    const events = JSON.parse(textOf(input)) as (RunEvent & { parts?: Readonly<Record<string, unknown>>[] })[]
    for (const event of events) {
      yield event.parts === undefined ? event : ({ ...event, parts: event.parts.map(toPart) } as RunEvent)
    }
  },
})

/** Says the bytes of each file that it gets; of `turns` what is kept of its session. */
export const hears: Agent = new Agent({
  name: 'hears',
  register: false,
  async run(input, { memory }) {
    if (input === 'turns') return JSON.stringify(await memory?.session()?.turns())
    const parts = typeof input === 'string' ? [] : input
    return parts.flatMap(part => ('data' in part ? atob(String(part.data)).length : [])).join()
  },
})

/** What the store of one's own has. */
const stored = new Map<string, Uint8Array<ArrayBuffer>>()

const own: FileStore = {
  put: (name, bytes) => void stored.set(name, bytes.slice()),
  get: name => stored.get(name),
  delete: name => stored.delete(name),
  has: name => stored.has(name),
}

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, settings = 'usual', more: HandlerOptions = {}): Handler {
  const store = settings.startsWith('own') ? own : undefined
  return createHandler({
    production: true,
    agents: { says, hears },
    state,
    middleware: [identify],
    runs: { store: 'asked', ...runsOf(settings) },
    plugins: [files({ maxFileBytes: MAX_FILE_BYTES, maxBytesPerOwner: MAX_BYTES_PER_OWNER, store })],
    fallback: () => Response.json([...stored.keys()]),
    ...more,
  })
}
