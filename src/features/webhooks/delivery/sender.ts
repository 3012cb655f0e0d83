/**
 * Sends a request to a receiver and returns the result. The request is signed if there is a secret.
 *
 * @module
 */

import { type ErrorCode, ServableError } from '../../../base/errors.ts'
import { type AddressPolicy, checkAddress, UnknownNameError } from '../../../web/address.ts'
import { senderTo } from '../../../web/outbound.ts'
import { signWebhook } from './webhook.ts'

/** A request to a receiver. */
export interface Delivery {
  readonly url: string
  /** The same for each try, so that a receiver can recognize a repeated request. */
  readonly id: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Keys for its signatures. Default: the sender's key. */
  readonly keys?: readonly Uint8Array<ArrayBuffer>[] | undefined
  /** Called before it is sent. Throws `unauthorized` or `insufficient_scope` if the subscriber may not get it any more. */
  readonly check?: (() => Promise<void>) | undefined
}

/** The result: the receiver accepted the request, failed and may accept it later, or is gone permanently. */
export type DeliveryResult = ReceiverAnswer & ({ readonly how: 'taken' } | Failed)

/** The receiver's answer, if there was one. */
interface ReceiverAnswer {
  readonly status?: number | undefined
}

interface Failed {
  readonly how: 'failed' | 'gone'
  readonly why: string
  /** Why it may not be sent. */
  readonly code?: ErrorCode | undefined
  /** Milliseconds until the receiver wants the next request (`Retry-After`, RFC 9110, section 10.2.3). */
  readonly retryAfterMs?: number | undefined
}

/** Sends requests to receivers. */
export interface Sender {
  /** Throws `address_refused` if requests to this address are not allowed. */
  check(url: string): Promise<void>
  /** Sends a request. Never rejects. */
  send(delivery: Delivery): Promise<DeliveryResult>
}

/** Options of a sender. */
export interface SenderOptions extends Pick<AddressPolicy, 'allow' | 'resolve'> {
  /** Key for the signatures. Undefined: requests without keys of their own are not signed. */
  readonly key?: Uint8Array<ArrayBuffer> | undefined
  /** Milliseconds that a receiver may take to answer. */
  readonly timeoutMs: number
}

/** The ports of receivers that `allow` does not name. */
const PORTS: readonly number[] = [443, 8443]

/** Makes a sender. */
export function createSender({ allow, resolve, key, timeoutMs }: SenderOptions): Sender {
  const policy: AddressPolicy = { allow, resolve, isHttpsOnly: true, ports: PORTS }
  const check = async (url: string) => void (await checkAddress(new URL(url), policy))
  const post = async ({
    url,
    id,
    body,
    headers,
    check,
    keys = key && [key],
  }: Delivery): Promise<DeliveryResult> => {
    await check?.()
    const send = await senderTo(new URL(url), policy, 'provider_failed')
    const response = await send({
      method: 'POST',
      body,
      signal: AbortSignal.timeout(timeoutMs),
      headers: { ...headers, ...(keys && (await signWebhook(keys, { id, sentAt: Date.now(), body }))) },
    })
    // Only the status is used.
    void response.body?.cancel().then(undefined, () => {})
    const { status } = response
    if (response.ok) return { how: 'taken', status }
    // Status 410 means that the receiver is gone permanently (RFC 9110, section 15.5.11).
    const how = status === 410 ? 'gone' : 'failed'
    const retryAfterMs = retryAfter(response.headers.get('retry-after'), Date.now())
    return { how, status, why: `it answered ${status}`, retryAfterMs }
  }
  return { check, send: delivery => post(delivery).catch(failureOf) }
}

/** The milliseconds of a `Retry-After`: seconds, or a date. Undefined for anything else. */
export function retryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const at = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** Describes a failure for the log. The text contains nothing from the receiver or its address. */
function failureOf(error: unknown): DeliveryResult {
  if (error instanceof UnknownNameError) return { how: 'failed', why: 'its name cannot be looked up' }
  if (error instanceof ServableError) {
    const { code } = error
    if (code === 'unauthorized') return { how: 'gone', code, why: 'its key is revoked or has expired' }
    if (code === 'insufficient_scope') return { how: 'gone', code, why: 'its key may not run this' }
    if (code === 'address_refused') return { how: 'gone', why: 'its address is no longer allowed' }
    if (code === 'state_unavailable') return { how: 'failed', why: 'its key cannot be checked' }
  }
  const isLate = Object(error).name === 'TimeoutError'
  return { how: 'failed', why: isLate ? 'it did not answer in time' : 'it cannot be reached' }
}
