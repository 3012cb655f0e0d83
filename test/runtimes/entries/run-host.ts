/** A Worker with an endpoint for the run host of `durableState`, one call a request. */

import { env } from 'cloudflare:workers'
import { ServableError } from '../../../src/base/errors.ts'
import { coreOf } from '../../../src/core/handler.ts'
import { type Answer, createHandler, type Kind, type RunsOptions } from '../../../src/index.ts'
import type { FeedbackInput, Rating } from '../../../src/runs/feedback.ts'
import type {
  EndedRun,
  Follower,
  ResumeRequest,
  RunHost,
  RunQuery,
  StartRequest,
} from '../../../src/runs/stored/host.ts'
import type { EventQuery } from '../../../src/runs/stored/log-page.ts'
import type { Target } from '../../../src/runs/target.ts'
import type { Answering, WaitingRun } from '../../../src/runs/waiting/waiting.ts'
import { durableObjects, durableState } from '../../../src/runtimes/cloudflare.ts'
import { journalled } from '../../contracts/run-host/journalled.ts'
import { countOf, openGate, scripted, wasStopped } from '../../contracts/run-host/scripted.ts'
import { crashing } from './crashing.ts'

const { RUNS, INDEXES } = env as { RUNS: string; INDEXES?: string }
const runs = JSON.parse(RUNS) as RunsOptions
const handler = createHandler({
  agents: { scripted },
  workflows: { journalled },
  runs,
  state: durableState({ indexes: Number(INDEXES ?? 1) }),
  production: false,
  logger: false,
})
const made = durableObjects(handler)

export const ServableRun: typeof made.ServableRun = crashing(made.ServableRun)

export const ServableIndex: typeof made.ServableIndex = crashing(made.ServableIndex)

type Call =
  | { method: 'start'; kind?: Kind; request: Omit<StartRequest, 'target'> }
  | { method: 'resume'; id: string; viewer: string | null; request: ResumeRequest }
  | { method: 'get' | 'wait' | 'cancel' | 'asked' | 'delete'; id: string; viewer: string | null }
  | { method: 'follow'; id: string; viewer: string | null; after: number }
  | { method: 'events'; id: string; viewer: string | null; query: EventQuery }
  | { method: 'find'; ref: string }
  | { method: 'list'; owner: string | null; query: RunQuery }
  | { method: 'feedback'; id: string; viewer: string | null; given?: FeedbackInput }
  | { method: 'rate'; id: string; viewer: string | null; rating: Rating }
  | { method: 'keep'; run: WaitingRun }
  | { method: 'record'; run: EndedRun }
  | { method: 'asking'; id: string }
  | {
      method: 'answer'
      id: string
      viewer: string | null
      answers: Answer[]
      next: string
      by?: Answering
    }
  | { method: 'openGate' | 'countOf' | 'wasStopped' | 'crash' | 'crashIndex'; about: string }

interface Bindings {
  SERVABLE_RUN: { getByName(id: string): { crash(): Promise<void> } }
  SERVABLE_INDEX: { getByName(name: string): { crash(): Promise<void> } }
}

const host = coreOf(handler)?.host as RunHost

function targetOf(kind: Kind): Target {
  const servable = kind === 'workflow' ? journalled : scripted
  return { kind, name: servable.name, servable }
}

async function answer(call: Call, signal: AbortSignal): Promise<unknown> {
  switch (call.method) {
    case 'start':
      return host.start({ ...call.request, target: targetOf(call.kind ?? 'agent') })
    case 'resume':
      return host.resume(call.id, call.viewer, call.request)
    case 'asked':
      return host.asked(call.id, call.viewer)
    case 'get':
    case 'cancel':
    case 'delete':
      return host[call.method](call.id, call.viewer)
    case 'wait':
      return host.wait(call.id, call.viewer, signal)
    case 'feedback':
      return host.feedback(call.id, call.viewer, call.given)
    case 'rate':
      return host.rate(call.id, call.viewer, call.rating)
    case 'events':
      return host.events(call.id, call.viewer, call.query)
    case 'find':
      return host.find(call.ref)
    case 'list':
      return host.list(call.owner, call.query)
    case 'keep':
      return host.keep(call.run)
    case 'record':
      return host.record(call.run)
    case 'answer':
      return host.answer(call.id, call.viewer, call.answers, call.next, call.by)
    case 'asking':
      return host.asking(call.id)
    case 'follow':
      return new Response(linesOf(await host.follow(call.id, call.viewer, call.after)))
    default:
      return control(call.method, call.about)
  }
}

/** Milliseconds of silence before an empty line. workerd notices a client that left only at a write. */
const KEEP_ALIVE_MS = 100

/** A log as lines, one for each entry. */
function linesOf(follower: Follower): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const alive = () => new Promise<[]>(resolve => setTimeout(() => resolve([]), KEEP_ALIVE_MS))
  let coming: ReturnType<Follower['next']> | undefined
  return new ReadableStream({
    async pull(controller) {
      coming ??= follower.next()
      const entries = await Promise.race([coming, alive()])
      if (entries === undefined) return controller.close()
      if (entries.length > 0) coming = undefined
      controller.enqueue(encoder.encode(`${entries.map(({ seq, data }) => `${seq} ${data}\n`).join('')}\n`))
    },
    cancel: () => follower.leave(),
  })
}

async function control(method: string, about: string): Promise<unknown> {
  if (method === 'openGate') return openGate(about)
  if (method === 'countOf') return countOf(about)
  if (method === 'wasStopped') return wasStopped(about)
  const { SERVABLE_RUN, SERVABLE_INDEX } = env as Bindings
  const object = (method === 'crashIndex' ? SERVABLE_INDEX : SERVABLE_RUN).getByName(about)
  return object.crash().then(
    () => null,
    () => null,
  )
}

const entry = {
  async fetch(request: Request): Promise<Response> {
    try {
      const value = await answer((await request.json()) as Call, request.signal)
      return value instanceof Response ? value : Response.json({ value })
    } catch (error) {
      const code = error instanceof ServableError ? error.code : undefined
      return Response.json({ code, message: String(error) }, { status: 400 })
    }
  },
}
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry
