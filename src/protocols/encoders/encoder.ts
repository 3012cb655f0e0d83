/**
 * Writes runs as server-sent events of other protocols. Each protocol has its own encoder.
 *
 * What the protocols share: `conversation.ts` (who remembers a conversation), `history.ts`, `questions.ts`, `named.ts`. May
 * import `core` and what is below it.
 *
 * @module
 */

import type { FinishEvent, RunEvent } from '../../agents/contract.ts'
import type { Core } from '../../core/built-in.ts'
import type { RequestState } from '../../http/context.ts'
import { sseOf } from '../../http/runs/sse-encoder.ts'
import type { StartedRun } from '../../http/runs/start-run.ts'
import { pulled, type SseSource } from '../../web/sse.ts'

/**
 * Encodes one run. It is deterministic: the same events give the same text again, so a stored run can be sent again from its log.
 * It throws for an event that cannot be JSON, and its state does not change then.
 */
export interface Encoder {
  /** Returns the server-sent events of one event of the run, or empty text for none. Those of the last event end the stream. */
  encode(event: RunEvent): string
  /** Returns the server-sent events of the end of a run that another run continues. */
  continued?(event: FinishEvent): string
}

/** The stream of a started run. Cancelling the stream cancels a run that is not stored. */
export async function encoded(
  { id, run }: StartedRun,
  encoder: Encoder,
  core: Pick<Core, 'host'>,
  request: Request,
  state: RequestState,
): Promise<SseSource> {
  if (run === undefined) return encodedLogs([id], encoder, core, request, state)
  return sseOf(run, event => encoder.encode(event))
}

/**
 * The logs of runs that continue each other, as one stream. `continued` encodes the end of each but the last. Rejects if the
 * first run cannot be followed.
 */
export async function encodedLogs(
  ids: readonly string[],
  encoder: Encoder,
  { host }: Pick<Core, 'host'>,
  request: Request,
  state: RequestState,
): Promise<SseSource> {
  const follow = (id = '') => host.follow(id, state.owner, 0)
  let at = 0
  let follower = await follow(ids[at])
  let isOver = false
  const encode = (event: RunEvent) =>
    event.type === 'finish' && at < ids.length - 1 ? encoder.continued?.(event) : encoder.encode(event)
  const cancel = () => {
    isOver = true
    follower.leave()
  }
  const read = async () => {
    const entries = await follower.next()
    if (entries !== undefined) return entries.map(({ data }) => encode(JSON.parse(data))).join('')
    if (++at >= ids.length || isOver) return undefined
    follower = await follow(ids[at])
    if (isOver) follower.leave()
    return ''
  }
  return pulled({
    cancel,
    async next() {
      let text: string | undefined = ''
      while (text === '' && !isOver) text = await read()
      return text || undefined
    },
    broken(error) {
      state.logThrown('stream.failed', error, request)
      return encoder.encode(BROKEN)
    },
  })
}

/** A source that sends a text, and then the content of another source. */
export function after(text: string, source: SseSource): SseSource {
  let isSent = false
  return {
    cancel: () => source.cancel(),
    read(take) {
      const takesMore = isSent || take(text)
      isSent = true
      if (takesMore) source.read(take)
    },
  }
}

/** The event that a client gets if the log of the run cannot be read. */
const BROKEN = {
  type: 'error',
  code: 'state_unavailable',
  error: 'The run cannot be read',
} as const

/**
 * The text that a client has got. A run that continues after a crash repeats its text from the beginning. Only the new part is
 * for the client.
 */
export class SentText {
  #sent = ''
  /** How many characters were repeated so far. Undefined once all of them were. */
  #repeated: number | undefined
  /** Whether the last text differs from what the client has. Then it begins another text. */
  isOther = false

  /** Adds a text. Returns the part that is new for the client. */
  add(text: string): string {
    if (this.#repeated === undefined) {
      this.isOther = false
      this.#sent += text
      return text
    }
    return this.#compare(text, this.#repeated)
  }

  /** Call it when the run begins to repeat its text. */
  resume(): void {
    this.#repeated = this.#sent === '' ? undefined : 0
  }

  #compare(text: string, repeated: number): string {
    const rest = this.#sent.length - repeated
    const known = text.slice(0, rest)
    this.isOther = !this.#sent.startsWith(known, repeated)
    if (this.isOther) this.#sent = this.#sent.slice(0, repeated) + text
    else this.#sent += text.slice(known.length)
    this.#repeated = this.isOther || text.length >= rest ? undefined : repeated + text.length
    return this.isOther ? text : text.slice(known.length)
  }
}
