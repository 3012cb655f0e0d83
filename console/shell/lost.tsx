import { check, lostSince } from '../connection.ts'
import { clock } from '../text.ts'

/** One line while the service does not answer. What is shown stays. */
export function Lost() {
  const since = lostSince.value
  if (since === undefined) return null
  return (
    <p class="lost" role="status">
      Not connected since {clock(since)}, trying again. What you see is from before.
      <button type="button" class="push" onClick={() => void check()}>
        Try now
      </button>
    </p>
  )
}
