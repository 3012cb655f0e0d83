/**
 * Sends one request to a receiver, signed where there is a secret, and says how the receiver took it.
 *
 * @module
 */

import { ServableError } from '../errors.ts'
import { type AddressPolicy, checkAddress, UnknownNameError } from '../web/address.ts'
import { signWebhook } from './webhook.ts'

/** What is sent. */
export interface Delivery {
  readonly url: string
  /** The same for each try, so that a receiver knows what it has. */
  readonly id: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** How a receiver took it: it has it, it may take it later, or it never will. */
export type Reception = { readonly how: 'taken' } | { readonly how: 'failed' | 'gone'; readonly why: string }

/** Tells receivers. */
export interface Sender {
  /** Throws `address_refused` for a receiver that may not be told. */
  check(url: string): Promise<void>
  /** Never rejects. */
  send(delivery: Delivery): Promise<Reception>
}

/** How a sender works. */
export interface SenderOptions extends Pick<AddressPolicy, 'allow' | 'resolve'> {
  /** Signs what is sent; undefined where it is not signed. */
  readonly key: Uint8Array<ArrayBuffer> | undefined
  /** Milliseconds that a receiver may take. */
  readonly timeoutMs: number
}

/** Makes a sender. */
export function createSender({ allow, resolve, key, timeoutMs }: SenderOptions): Sender {
  const policy: AddressPolicy = { allow, resolve, isHttpsOnly: true }
  const check = (url: string) => checkAddress(new URL(url), policy)
  const post = async ({ url, id, body, headers }: Delivery): Promise<Reception> => {
    await check(url)
    const response = await fetch(url, {
      method: 'POST',
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      headers: { ...headers, ...(key && (await signWebhook(key, { id, sentAt: Date.now(), body }))) },
    })
    // Nothing but the status counts.
    void response.body?.cancel().then(undefined, () => {})
    if (response.ok) return { how: 'taken' }
    // 410 says that it is gone for good (RFC 9110, section 15.5.11).
    return { how: response.status === 410 ? 'gone' : 'failed', why: `it answered ${response.status}` }
  }
  return { check, send: delivery => post(delivery).catch(failureOf) }
}

/** What is told of a failure: nothing that the receiver or its address could put into a log. */
function failureOf(error: unknown): Reception {
  if (error instanceof UnknownNameError) return { how: 'failed', why: 'its name cannot be looked up' }
  if (error instanceof ServableError) return { how: 'gone', why: 'its address is no longer allowed' }
  const isLate = Object(error).name === 'TimeoutError'
  return { how: 'failed', why: isLate ? 'it did not answer in time' : 'it cannot be reached' }
}
