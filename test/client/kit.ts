/** A handler in this process, its clients, and a network that loses connections. */
import {
  type Client,
  type ClientOptions,
  createClient,
  type ServableClientError,
} from '../../src/client/index.ts'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  MetricsExporter,
  Registry,
  textOf,
  Workflow,
} from '../../src/index.ts'

export type Fetch = (request: Request) => Promise<Response>

/** What the agents recorded. */
export interface Service {
  readonly fetch: Fetch
  /** Every request, as `POST /agents/echo/run`. */
  readonly requests: string[]
  /** How often an agent began, and how often its signal fired. */
  readonly notes: { began: number; stopped: number }
  /** Lets the agent `gated` continue. */
  open(): void
}

/** A service whose agents count what they do. */
export function createService(options: HandlerOptions = {}): Service {
  const requests: string[] = []
  const notes = { began: 0, stopped: 0 }
  let open = () => {}
  const gate = new Promise<void>(resolve => {
    open = resolve
  })
  const agent = (name: string, run: ConstructorParameters<typeof Agent>[0]['run'], corrections?: true) =>
    new Agent({ name, run, register: false, ...(corrections && { corrections }) })
  const agents = {
    echo: agent('echo', input => textOf(input), true),
    counts: agent('counts', async function* (input) {
      notes.began++
      const count = Number(textOf(input))
      for (let index = 1; index <= count; index++) {
        yield `${index} of ${count} – größer, 日本, 😀\n\n`
        if (index % 20 === 0) await new Promise(resolve => setImmediate(resolve))
      }
      return { usage: { promptTokens: 1, completionTokens: count, totalTokens: count + 1 } }
    }),
    gated: agent('gated', async function* (_, { signal }) {
      notes.began++
      signal.addEventListener('abort', () => notes.stopped++)
      yield 'before '
      await gate
      yield 'after'
    }),
    calls: agent('calls', async function* (_, { callTool }) {
      yield* callTool({ name: 'add', execute: () => 3 }, { a: 1 })
      yield { type: 'model_call', model: 'a/b', finishReason: 'stop', durationMs: 5 }
    }),
    fails: agent('fails', () => Promise.reject(new Error('it broke'))),
    heard: agent('heard', (_, { history, clientTools, sessionId }) => ({
      structured: { history, clientTools, sessionId },
    })),
    thinks: agent('thinks', () => ({ structured: { city: 'Oslo' } })),
  }
  const workflows = { count: new Workflow({ name: 'count', run: input => textOf(input), register: false }) }
  const handler = createHandler({ agents, workflows, registry: new Registry(), logger: false, ...options })
  return {
    requests,
    notes,
    open: () => open(),
    fetch(request) {
      requests.push(`${request.method} ${new URL(request.url).pathname.replace('/api', '')}`)
      return handler(request)
    },
  }
}

/** A client that retries without delay. */
export function clientOf(fetch: Fetch, options: Partial<ClientOptions> = {}): Client {
  return createClient({ baseUrl: 'http://service.test/api', fetch, retryDelayMs: 0, ...options })
}

/** The point at which a connection is lost. */
export type Cut =
  /** It is not lost. */
  | 'never'
  /** Before the request reaches the service. */
  | 'before'
  /** The service has the request, but its answer is lost. */
  | 'answer'
  /** After the first chunk of the body that has an event. */
  | 'event'
  /** After this many bytes of the answer's body. The body fails, or closes as if it had ended. */
  | { readonly bytes: number; readonly closes: boolean }

/** A network that cuts each connection as `next` says. */
export function cutting(fetch: Fetch, next: (request: Request) => Cut): Fetch {
  return async request => {
    const cut = next(request)
    if (cut === 'before') throw new TypeError('cut before')
    const response = await fetch(request)
    if (cut === 'never') return response
    if (cut === 'answer') {
      await response.body?.cancel()
      throw new TypeError('the answer was cut')
    }
    const isStream = response.headers.get('content-type') === 'text/event-stream'
    // JSON has a known length, so a shorter body fails.
    const { bytes, closes } = cut === 'event' ? { bytes: Number.POSITIVE_INFINITY, closes: true } : cut
    return new Response(cutBody(response.body!, bytes, isStream && closes, cut === 'event'), response)
  }
}

function cutBody(
  body: ReadableStream<Uint8Array>,
  bytes: number,
  closes: boolean,
  afterEvent: boolean,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let left = bytes
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) return controller.close()
      const part = value.subarray(0, left)
      left -= part.byteLength
      if (part.byteLength > 0) controller.enqueue(part)
      const isCut = afterEvent ? new TextDecoder().decode(value).includes('data:') : left === 0
      if (!isCut) return
      await reader.cancel()
      if (closes) controller.close()
      else controller.error(new TypeError('cut in the body'))
    },
    cancel: () => reader.cancel(),
  })
}

/** The metrics of a service. */
export const metrics = (): MetricsExporter => new MetricsExporter()

/** The error of a call that must fail. */
export function failure(promise: Promise<unknown>): Promise<ServableClientError> {
  return promise.then(
    () => Promise.reject(new Error('no failure')),
    error => error,
  )
}

/** A service that gives these answers one after another, and then repeats the last one. */
export function answering(...answers: readonly (() => Response)[]) {
  const left = [...answers]
  const calls: Request[] = []
  const fetch = async (request: Request) => {
    calls.push(request)
    return (left.length > 1 ? left.shift()! : left[0]!)()
  }
  return Object.assign(fetch, { calls })
}
