import type { RunEvent } from '../../agents/contract.ts'
import { eventToJson } from '../../runs/event-json.ts'
import type { Run } from '../../runs/run.ts'
import type { Follower } from '../../runs/stored/host.ts'
import { pulled, type SseSource, sseMessage } from '../../web/sse.ts'

/** A run as server-sent events. `encode` gives the messages of an event, or `''` for none. What it throws fails the run. */
export function sseOf(run: Run, encode: (event: RunEvent) => string): SseSource {
  const tried = (event: RunEvent) => {
    try {
      return encode(event)
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
        const text = tried(event)
        return text === '' || take(text)
      })
    },
  }
}

/** The SSE encoder of a run: its events as messages numbered from 1. An event that is no JSON fails the run. */
export function sseOfRun(run: Run): SseSource {
  let last = 0
  return sseOf(run, event => {
    const json = eventToJson(event)
    return sseMessage(++last, json)
  })
}

/** The SSE encoder of a stored run: what its log has ready goes out as one chunk. `tell` hears why it broke off. */
export function sseOfFollower(follower: Follower, tell: (error: unknown) => void): SseSource {
  return pulled({
    cancel: () => follower.leave(),
    async next() {
      const entries = await follower.next()
      return entries?.map(({ seq, data }) => sseMessage(seq, data)).join('')
    },
    // The log cannot be read: the stream closes without an end, and its client may come back for the rest.
    broken: error => void tell(error),
  })
}
