import type { RunEvent } from '../agents/contract.ts'
import { eventToJson } from '../runs/event-json.ts'
import type { Follower } from '../runs/host.ts'
import type { Run } from '../runs/run.ts'
import { pulled, type SseSource, sseMessage } from '../web/sse.ts'

/** The SSE encoder of a run: its events as messages numbered from 1. An event that is no JSON fails the run. */
export function sseOfRun(run: Run): SseSource {
  let id = 0
  const encode = (event: RunEvent) => {
    try {
      return sseMessage(id + 1, eventToJson(event))
    } catch (error) {
      run.fail(error)
      return undefined
    }
  }
  return {
    cancel: run.cancel,
    read(take) {
      run.read(event => {
        if (event === undefined) return take(undefined)
        const message = encode(event)
        // Why the run failed comes next.
        if (message === undefined) return true
        id++
        return take(message)
      })
    },
  }
}

/** The SSE encoder of a stored run: what its log has ready goes out as one chunk. `tell` hears why it broke off. */
export function sseOfFollower(follower: Follower, tell: (error: unknown) => void): SseSource {
  return pulled({
    cancel: () => follower.leave(),
    async next() {
      try {
        const entries = await follower.next()
        return entries?.map(({ seq, data }) => sseMessage(seq, data)).join('')
      } catch (error) {
        // The log cannot be read: the stream closes without an end, and its client may come back for the rest.
        follower.leave()
        tell(error)
        return undefined
      }
    },
  })
}
