/**
 * Writes runs as server-sent events in the words of a protocol.
 *
 * @module
 */

import type { FinishEvent, RunEvent } from '../../agents/contract.ts'
import { reportError } from '../../base/errors.ts'
import type { RunHost } from '../../runs/stored/host.ts'
import { pulled, type SseSource } from '../../web/sse.ts'
import type { RequestState } from '../context.ts'
import { sseOf } from './sse-encoder.ts'
import type { StartedRun } from './start-run.ts'

/**
 * Encodes one run. It is deterministic: the same events give the same text again, so a stored run can be sent again from its log.
 * It throws for an event that cannot be JSON, and its state does not change then.
 */
export interface Encoder {
  /**
   * Returns the server-sent events of one event of the run, or empty text for none. Those of the last event end the stream. `position` is
   * that of the event in its run, from 1; 0 for an error that is in no log.
   */
  encode(event: RunEvent, position: number): string
  /** Reads what the encoder needs for an event of a stored run. It is called before each one; the event waits for its promise. */
  prepare?(event: RunEvent): Promise<void> | undefined
  /** Returns the server-sent events of the end of a run that another run continues. */
  continued?(event: FinishEvent): string
}

/** What a stream is for. */
export interface EncodedFor {
  readonly host: RunHost
  readonly production: boolean
  readonly request: Request
  readonly state: RequestState
  /** The position in the first run after which to begin. Default: 0. */
  readonly after?: number | undefined
}

/** The stream of a started run. Cancelling the stream cancels a run that is not stored. */
export async function encoded(
  { id, run }: StartedRun,
  encoder: Encoder,
  asked: EncodedFor,
): Promise<SseSource> {
  if (run === undefined) return encodedLogs([id], encoder, asked)
  run.arm()
  let position = 0
  return sseOf(run, event => encoder.encode(event, ++position))
}

/**
 * The logs of runs that continue each other, as one stream. `continued` encodes the end of each but the last. Rejects if the
 * first run cannot be followed.
 */
export async function encodedLogs(
  ids: readonly string[],
  encoder: Encoder,
  { host, production, request, state, after: begin = 0 }: EncodedFor,
): Promise<SseSource> {
  const follow = (id = '', position = 0) => host.follow(id, state.owner, position)
  let at = 0
  let follower = await follow(ids[at], begin)
  let isOver = false
  const encode = (event: RunEvent, position: number) =>
    event.type === 'finish' && at < ids.length - 1
      ? encoder.continued?.(event)
      : encoder.encode(event, position)
  const joined = async (entries: readonly { readonly seq: number; readonly data: string }[]) => {
    let text = ''
    for (const { seq, data } of entries) {
      const event: RunEvent = JSON.parse(data)
      const prepared = encoder.prepare?.(event)
      if (prepared !== undefined) await prepared
      text += encode(event, seq) ?? ''
    }
    return text
  }
  const cancel = () => {
    isOver = true
    follower.leave()
  }
  const read = async () => {
    const entries = await follower.next()
    if (entries !== undefined) return joined(entries)
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
    // The log of the run cannot be read, or an event of it cannot be encoded.
    broken(error) {
      state.logThrown('stream.failed', error, request)
      const { code, message } = reportError(error, production, 'internal_error')
      return encoder.encode({ type: 'error', code, error: message }, 0)
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
