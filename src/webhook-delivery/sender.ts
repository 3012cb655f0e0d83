/**
 * Sends a request to a receiver and reports the result. The request is signed if there is a secret.
 *
 * @module
 */

import { ServableError } from '../errors.ts'
import { type AddressPolicy, checkAddress, UnknownNameError } from '../web/address.ts'
import { signWebhook } from './webhook.ts'

/** A request to a receiver. */
export interface Delivery {
  readonly url: string
  /** The same for each try, so that a receiver can recognize a repeated request. */
  readonly id: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** The result: the receiver took the request, failed and may take it later, or is gone for good. */
export type Reception = { readonly how: 'taken' } | { readonly how: 'failed' | 'gone'; readonly why: string }

/** Sends requests to receivers. */
export interface Sender {
  /** Throws `address_refused` if requests to this address are not allowed. */
  check(url: string): Promise<void>
  /** Sends a request. Never rejects. */
  send(delivery: Delivery): Promise<Reception>
}

/** Options of a sender. */
export interface SenderOptions extends Pick<AddressPolicy, 'allow' | 'resolve'> {
  /** Key for the signatures. Undefined: requests are not signed. */
  readonly key: Uint8Array<ArrayBuffer> | undefined
  /** Milliseconds that a receiver may take to answer. */
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
    // Only the status is used.
    void response.body?.cancel().then(undefined, () => {})
    if (response.ok) return { how: 'taken' }
    // Status 410 means that the receiver is gone for good (RFC 9110, section 15.5.11).
    return { how: response.status === 410 ? 'gone' : 'failed', why: `it answered ${response.status}` }
  }
  return { check, send: delivery => post(delivery).catch(failureOf) }
}

/** Describes a failure for the log. The text contains nothing from the receiver or its address. */
function failureOf(error: unknown): Reception {
  if (error instanceof UnknownNameError) return { how: 'failed', why: 'its name cannot be looked up' }
  if (error instanceof ServableError) return { how: 'gone', why: 'its address is no longer allowed' }
  const isLate = Object(error).name === 'TimeoutError'
  return { how: 'failed', why: isLate ? 'it did not answer in time' : 'it cannot be reached' }
}
