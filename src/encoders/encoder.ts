/**
 * What the encoders of other protocols share: a run as server-sent events in the words of a protocol.
 *
 * @module
 */

import type { RunEvent } from '../agents/contract.ts'
import type { Core } from '../core/built-in.ts'
import type { RequestState } from '../http/context.ts'
import type { StartedRun } from '../http/start-run.ts'
import type { Follower } from '../runs/host.ts'
import type { Run } from '../runs/run.ts'
import { pulled, type SseSource } from '../web/sse.ts'

/**
 * Encodes one run. It is deterministic: the same events give the same text again, so a stored run can be told again from its log.
 * What it makes of an event that is no JSON throws, and changes nothing of its own.
 */
export interface Encoder {
  /** The messages of an event as server-sent events, in their order; empty for none. The last one has the end of the stream. */
  encode(event: RunEvent): string
}

/** The encoder of server-sent events without ids. */
export function sseData(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** A run that was started, in the words of an encoder. Whoever leaves a plain run cancels it. */
export async function encoded(
  { id, run }: StartedRun,
  encoder: Encoder,
  { host }: Pick<Core, 'host'>,
  request: Request,
  state: RequestState,
): Promise<SseSource> {
  if (run !== undefined) return ofRun(run, encoder)
  return ofFollower(await host.follow(id, state.owner, 0), encoder, error =>
    state.tellThrown('stream.failed', error, request),
  )
}

function ofRun(run: Run, encoder: Encoder): SseSource {
  const encode = (event: RunEvent) => {
    try {
      return encoder.encode(event)
    } catch (error) {
      run.fail(error)
      // Why the run failed comes next.
      return ''
    }
  }
  return {
    cancel: run.cancel,
    read(take) {
      run.read(event => {
        if (event === undefined) return take(undefined)
        const text = encode(event)
        return text === '' || take(text)
      })
    },
  }
}

/** The events of a log. `tell` hears why it broke off. */
export function ofFollower(follower: Follower, encoder: Encoder, tell: (error: unknown) => void): SseSource {
  let isOver = false
  return pulled({
    cancel: () => follower.leave(),
    async next() {
      try {
        while (!isOver) {
          const entries = await follower.next()
          if (entries === undefined) return undefined
          const text = entries.map(({ data }) => encoder.encode(JSON.parse(data))).join('')
          if (text !== '') return text
        }
      } catch (error) {
        isOver = true
        follower.leave()
        tell(error)
        return encoder.encode(BROKEN)
      }
      return undefined
    },
  })
}

/** What the client of a stream is told whose log cannot be read. */
const BROKEN = {
  type: 'error',
  code: 'state_unavailable',
  error: 'The rest of the run cannot be read: try again',
} as const
