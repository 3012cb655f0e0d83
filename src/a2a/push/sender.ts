import { ServableError } from '../../errors.ts'
import { type AddressPolicy, checkAddress, UnknownNameError } from '../../web/address.ts'
import type { KeptPush } from './kept.ts'
import type { Notice } from './notice.ts'
import type { PushSettings } from './options.ts'
import { signWebhook, webhookKey } from './webhook.ts'

/** How a receiver took a notice: it has it, it may take it later, or it never will. */
export type Reception = { readonly how: 'taken' } | { readonly how: 'failed' | 'gone'; readonly why: string }

/** Tells receivers. */
export interface Sender {
  /** Throws `address_refused` for a receiver that may not be told. */
  check(url: string): Promise<void>
  /** Never rejects. */
  send(kept: KeptPush, notice: Notice): Promise<Reception>
}

/** Makes a sender. Throws `invalid_options` for a secret that is none. */
export function createSender(
  { allow, secret, timeoutMs }: PushSettings,
  resolve: AddressPolicy['resolve'],
): Sender {
  const key = secret === undefined ? undefined : webhookKey(secret, 'a2a.push.secret')
  const policy: AddressPolicy = { allow, resolve, isHttpsOnly: true }
  const check = (url: string) => checkAddress(new URL(url), policy)
  const post = async (
    { taskId, config }: KeptPush,
    { seq, body, contentType }: Notice,
  ): Promise<Reception> => {
    await check(config.url)
    const { url, token, scheme, credentials, version } = config
    const response = await fetch(url, {
      method: 'POST',
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        'content-type': contentType,
        'a2a-version': version,
        ...(token !== undefined && { 'x-a2a-notification-token': token }),
        ...(scheme !== undefined && { authorization: [scheme, credentials].filter(Boolean).join(' ') }),
        ...(key &&
          (await signWebhook(key, {
            id: `${taskId}.${encoded(config.id)}.${seq}`,
            sentAt: Date.now(),
            body,
          }))),
      },
    })
    // Nothing but the status counts.
    void response.body?.cancel().then(undefined, () => {})
    if (response.ok) return { how: 'taken' }
    // 410 says that it is gone for good (RFC 9110, section 15.5.11).
    return { how: response.status === 410 ? 'gone' : 'failed', why: `it answered ${response.status}` }
  }
  return {
    check,
    send: (kept, notice) => post(kept, notice).catch(error => failureOf(error)),
  }
}

/** A client's id as it may stand in a header, and between dots. */
function encoded(id: string): string {
  return encodeURIComponent(id.toWellFormed()).replaceAll('.', '%2E')
}

/** What is told of a failure: nothing that the receiver or its address could put into a log. */
function failureOf(error: unknown): Reception {
  if (error instanceof UnknownNameError) return { how: 'failed', why: 'its name cannot be looked up' }
  if (error instanceof ServableError) return { how: 'gone', why: 'its address may not be told any more' }
  const isLate = Object(error).name === 'TimeoutError'
  return { how: 'failed', why: isLate ? 'it did not answer in time' : 'it cannot be reached' }
}
