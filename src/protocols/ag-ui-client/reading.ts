/**
 * Reads a stream of events over cuts of the connection.
 *
 * @module
 */

/** An event of AG-UI. */
interface AgUiEvent {
  readonly type: string
}

/** Why a stream could not be read: it was cut too often, or the service refused it. */
export type AgUiErrorCode = 'connection_lost' | 'refused' | 'position_lost'

/** A stream that could not be read. */
export class AgUiError extends Error {
  readonly code: AgUiErrorCode
  /** The status of an answer that was refused. */
  readonly status: number | undefined

  constructor(code: AgUiErrorCode, message: string, status?: number) {
    super(message)
    this.name = 'AgUiError'
    this.code = code
    this.status = status
  }
}

/** How to read. */
export interface Reading {
  /** Asks for the stream: from the beginning, or after a position. */
  readonly ask: (position: string | undefined) => Promise<Response>
  /** Called for each event, in order. */
  readonly tell: (event: AgUiEvent) => void
  readonly signal: AbortSignal
  /** Whether the stream begins with what the client may have. Then events are told once a position is known. */
  readonly isAttached: boolean
  /** Most cuts in a row without a new event. */
  readonly maxRetries: number
  /** Milliseconds before the first retry. It doubles, up to 5 seconds. */
  readonly retryMs: number
}

/** Most characters of one event. */
const MAX_EVENT = 32 * 1024 * 1024
const MAX_RETRY_MS = 5000

/** Reads to the end of the run. A stream that ends without an end of the run was cut. Rejects with an {@link AgUiError}. */
export async function readOverCuts(reading: Reading): Promise<void> {
  const { signal, maxRetries, retryMs } = reading
  const stream = new Stream(reading)
  for (let retries = 0; !signal.aborted; retries++) {
    if (retries > 0) await pause(Math.min(retryMs * 2 ** (retries - 1), MAX_RETRY_MS), signal)
    const before = stream.told
    if (signal.aborted || (await readOnce(reading, stream))) return
    if (stream.told > before) retries = 0
    const mayRetry = stream.position !== undefined || reading.isAttached
    if (!signal.aborted && (retries >= maxRetries || !mayRetry))
      throw new AgUiError('connection_lost', `The connection was cut ${retries + 1} times`)
  }
}

/** Returns whether there is nothing more to read. */
async function readOnce({ ask, signal, isAttached }: Reading, stream: Stream): Promise<boolean> {
  try {
    const response = await ask(stream.position)
    const mayRetry = isAttached || stream.position !== undefined
    return (await checked(response, mayRetry)) && (await stream.read(response))
  } catch (error) {
    if (error instanceof AgUiError && !signal.aborted) throw error
    return signal.aborted
  }
}

/** Whether the answer is a stream. False for a service that is not there for a while, if it may be asked again. */
async function checked(response: Response, mayRetry: boolean): Promise<boolean> {
  const { ok, status } = response
  if (ok) return true
  const text = await response.text()
  if (mayRetry && (status === 429 || status >= 500)) return false
  throw new AgUiError('refused', text.slice(0, 1000) || `The service answered ${status}`, status)
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}

class Stream {
  position: string | undefined
  told = 0
  readonly #reading: Reading
  #held: AgUiEvent[] = []

  constructor(reading: Reading) {
    this.#reading = reading
  }

  /** Reads one answer. Returns whether the run has ended, or there is none. */
  async read(response: Response): Promise<boolean> {
    this.#held = []
    let isEmpty = true
    for await (const frame of framesOf(response, this.#reading.signal)) {
      isEmpty = false
      if (this.#take(frame)) return true
    }
    // A thread without a run is an empty stream.
    return isEmpty && this.#reading.isAttached && this.position === undefined
  }

  #take(frame: string): boolean {
    const lines = frame.split('\n')
    const data = lines.flatMap(line => (line.startsWith('data: ') ? [line.slice(6)] : [])).join('\n')
    if (data === '') return false
    const event: AgUiEvent = JSON.parse(data)
    const id = lines.find(line => line.startsWith('id: '))?.slice(4)
    if (this.told > 0 && event.type === 'RUN_STARTED')
      throw new AgUiError('position_lost', 'The service has this position no more: connect again')
    if (this.#reading.isAttached && this.position === undefined && id === undefined) {
      this.#held.push(event)
      return false
    }
    for (const each of this.#held) this.#reading.tell(each)
    this.#held = []
    this.position = id ?? this.position
    this.told++
    this.#reading.tell(event)
    return event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR'
  }
}

/** The messages of a stream of server-sent events, without comments. What was cut off is the last one. */
async function* framesOf({ body }: Response, signal: AbortSignal): AsyncGenerator<string> {
  if (body === null) return
  const reader = (body as ReadableStream<BufferSource>).pipeThrough(new TextDecoderStream()).getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', cancel)
  try {
    let rest: string[] = []
    let length = 0
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      rest.push(read.value)
      length += read.value.length
      if (length > MAX_EVENT) throw new AgUiError('connection_lost', 'An event is too long')
      if (!read.value.includes('\n')) continue
      const frames = rest.join('').split('\n\n')
      rest = [frames.pop() ?? '']
      length = rest[0]?.length ?? 0
      yield* frames.filter(frame => !frame.startsWith(':'))
    }
    if (rest.join('') !== '') yield ''
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}
