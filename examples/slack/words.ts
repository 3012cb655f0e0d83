/** Failures in words for people. */
import { ServableClientError } from 'servable/client'

const WORDS: Readonly<Record<string, string>> = {
  agent_paused: 'I am paused for now. Please try again later.',
  already_answered: 'This is decided already.',
  approval_denied: 'The call was denied.',
  approval_expired: 'Nobody decided in time. Please ask again.',
  body_too_large: 'This message is too large.',
  budget_exceeded: 'The budget is used up. Please try again later.',
  forbidden: 'Only the person who asked, or an approver, may decide this.',
  idempotency_mismatch: 'This message was answered already.',
  input_refused: 'I may not answer this message.',
  interrupted: 'I was interrupted. Please ask again.',
  invalid_body: 'This answer does not fit. Please try again.',
  output_refused: 'I may not say what I found.',
  rate_limited: 'Too many messages. Please wait a moment.',
  run_ended: 'This is decided already.',
  run_not_found: 'Only the person who asked, or an approver, may decide this.',
  run_timeout: 'This took too long. Please ask for less at once.',
  too_many_runs: 'I am busy. Please try again in a moment.',
}

/** What went wrong, without anything internal: an error of the client, or the last event of a run. */
export function wordsOf(error: unknown): string {
  const { code, runId } = (error ?? {}) as { readonly code?: string; readonly runId?: string }
  const words = code !== undefined && Object.hasOwn(WORDS, code) ? WORDS[code] : undefined
  if (words !== undefined) return words
  if (error instanceof ServableClientError) console.error(code, error.requestId)
  return `Something went wrong. Please try again.${runId === undefined ? '' : ` (${runId})`}`
}

/** Returns an answer of the service. Throws what may be over in a moment: then the platform sends its message again. */
export function orThrow(error: unknown): ServableClientError {
  if (error instanceof ServableClientError && error.code !== 'state_unavailable') return error
  throw error
}

/** A text of an agent that calls no channel: `<!channel>` stays as it is written. */
export function calm(text: string): string {
  return text.replaceAll('<!', '<\u200b!')
}
