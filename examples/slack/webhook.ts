/** The addresses to which platforms send what happens: `/slack`, and one for each further adapter. */
import type { Chat } from 'chat'

/** Most bytes of a request. */
const MAX_BYTES = 1_048_576

/** Milliseconds until Slack must have an answer: it waits for 3,000. */
const PATIENCE_MS = 2500

/**
 * Returns what answers `POST /slack`. It answers once the run of a message is stored. If that fails, Slack is told so and sends the
 * message again: its run and its answer are the same ones then, since their keys come from the message.
 */
export function webhookOf(bot: Chat): (request: Request) => Promise<Response> {
  const platforms: Readonly<Record<string, (typeof bot.webhooks)[string]>> = bot.webhooks
  return async request => {
    const name = new URL(request.url).pathname.slice(1)
    const platform = Object.hasOwn(platforms, name) ? platforms[name] : undefined
    if (platform === undefined) return new Response('Not found', { status: 404 })
    if (request.method !== 'POST')
      return new Response('Use POST', { status: 405, headers: { allow: 'POST' } })
    if (!(Number(request.headers.get('content-length') ?? Number.NaN) <= MAX_BYTES))
      return new Response('Too large, or without a content-length', { status: 413 })
    const headers = new Headers(request.headers)
    // The adapter would drop what comes again, even if the first try was lost.
    headers.delete('x-slack-retry-num')
    const again = new Request(request.url, { method: 'POST', headers, body: await request.text() })
    const work: Promise<unknown>[] = []
    const waitUntil = (task: Promise<unknown>) => void work.push(task)
    const answer = await platform(again, { waitUntil, propagateHandlerErrors: true, deduplicate: false })
    const all = Promise.all(work).then(
      () => answer,
      error => {
        console.error('a message was not taken:', error)
        return new Response('Send it again', { status: 503 })
      },
    )
    return Promise.race([all, new Promise<Response>(done => setTimeout(done, PATIENCE_MS, answer))])
  }
}
