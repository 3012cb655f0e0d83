/**
 * What the encoders of other protocols share: a run as server-sent events in the words of a protocol.
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
 * Encodes one run. It is deterministic: the same events give the same text again, so a stored run can be told again from its log.
 * What it makes of an event that is no JSON throws, and changes nothing of its own.
 */
export interface Encoder {
  /** The messages of an event as server-sent events, in their order; empty for none. The last one has the end of the stream. */
  encode(event: RunEvent): string
  /** The end of a run that the next one goes on from. */
  goesOn?(event: FinishEvent): string
}

/** A run that was started, in the words of an encoder. Whoever leaves a plain run cancels it. */
export async function encoded(
  { id, run }: StartedRun,
  encoder: Encoder,
  core: Pick<Core, 'host'>,
  request: Request,
  state: RequestState,
): Promise<SseSource> {
  if (run === undefined) return ofLogs([id], encoder, core, request, state)
  return sseOf(run, event => encoder.encode(event))
}

/**
 * The logs of runs that go on from each other, as one stream; the end of each but the last is told by `goesOn`. Where the first cannot
 * be followed, it rejects.
 */
export async function ofLogs(
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
    event.type === 'finish' && at < ids.length - 1 ? encoder.goesOn?.(event) : encoder.encode(event)
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
      state.tellThrown('stream.failed', error, request)
      return encoder.encode(BROKEN)
    },
  })
}

/** A text, and then what a source gives. */
export function after(text: string, source: SseSource): SseSource {
  let isTold = false
  return {
    cancel: () => source.cancel(),
    read(take) {
      const goesOn = isTold || take(text)
      isTold = true
      if (goesOn) source.read(take)
    },
  }
}

/** What the client of a stream is told whose log cannot be read. */
const BROKEN = {
  type: 'error',
  code: 'state_unavailable',
  error: 'The run cannot be read',
} as const
