/**
 * Signed requests (Standard Webhooks 1.0.0), for the sender and the receiver.
 *
 * @module
 */

import { ServableError } from '../../../base/errors.ts'
import { fromBase64, toBase64 } from '../../../web/base64.ts'
import { readText } from '../../../web/body.ts'

/** A verified notification. */
export interface Webhook {
  /** The same for each try of one notification. Ignore an id that you have seen. */
  readonly id: string
  /** Time of sending, in milliseconds since 1970. */
  readonly sentAt: number
  /** The body as JSON. */
  readonly payload: unknown
}

/** Options of the verification. */
export interface VerifyOptions {
  /** Most milliseconds between the time of sending and now, in either direction. Default: 300,000. */
  readonly toleranceMs?: number
  /** Most bytes of its body. Default: 10,485,760. */
  readonly maxBodyBytes?: number
}

const MIN_KEY_BYTES = 24

/** Decodes a secret. Throws `invalid_options` that names `option`. */
export function webhookKey(secret: string, option: string): Uint8Array<ArrayBuffer> {
  const bytes = typeof secret === 'string' ? fromBase64(secret.replace(/^whsec_/, '')) : undefined
  if (bytes !== undefined && bytes.length >= MIN_KEY_BYTES) return bytes
  throw new ServableError(
    'invalid_options',
    `\`${option}\` must be ${MIN_KEY_BYTES} bytes or more in base64: make one with \`openssl rand -base64 32\``,
  )
}

/** Returns the headers that sign a body, with one key or with each of several. */
export async function signWebhook(
  key: Uint8Array<ArrayBuffer> | readonly Uint8Array<ArrayBuffer>[],
  { id, sentAt, body }: { readonly id: string; readonly sentAt: number; readonly body: string },
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(sentAt / 1000))
  const data = signed(id, timestamp, body)
  const signatures = [key].flat().map(async each => {
    const signature = await crypto.subtle.sign('HMAC', await hmac(each, 'sign'), data)
    return `v1,${toBase64(new Uint8Array(signature))}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': (await Promise.all(signatures)).join(' '),
  }
}

/**
 * Reads a notification and checks its signature with one of the secrets. Throws `unauthorized` if the signature is wrong or too
 * old, `invalid_body` if the body is not JSON, and `body_too_large`.
 *
 * @example
 * const { id, payload } = await verifyWebhook(request, env.WEBHOOK_SECRET)
 */
export async function verifyWebhook(
  request: Request,
  secret: string | readonly string[],
  { toleranceMs = 300_000, maxBodyBytes = 10 * 1024 * 1024 }: VerifyOptions = {},
): Promise<Webhook> {
  const keys = [secret].flat().map(each => webhookKey(each, 'secret'))
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map(
    name => request.headers.get(`webhook-${name}`) ?? '',
  ) as [string, string, string]
  const body = await readText(request, maxBodyBytes)
  const sentAt = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN
  const isNow = Math.abs(Date.now() - sentAt) <= toleranceMs
  if (id === '' || !isNow || !(await isSigned(keys, signature, signed(id, timestamp, body)))) {
    throw new ServableError('unauthorized', 'The notification has a signature that is wrong or too old')
  }
  try {
    return { id, sentAt, payload: JSON.parse(body) }
  } catch (cause) {
    throw new ServableError('invalid_body', 'The notification must be JSON', { cause })
  }
}

/** Whether one of the signatures is valid. There are several while keys are rotated. */
async function isSigned(
  keys: readonly Uint8Array<ArrayBuffer>[],
  signatures: string,
  data: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const given = signatures.split(' ').flatMap(each => {
    const bytes = each.startsWith('v1,') ? fromBase64(each.slice(3)) : undefined
    return bytes === undefined ? [] : [bytes]
  })
  let isOne = false
  // `crypto.subtle.verify` compares in constant time.
  for (const key of keys) {
    for (const signature of given.slice(0, 10)) {
      if (await crypto.subtle.verify('HMAC', await hmac(key, 'verify'), signature, data)) isOne = true
    }
  }
  return isOne
}

function signed(id: string, timestamp: string, body: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${id}.${timestamp}.${body}`) as Uint8Array<ArrayBuffer>
}

function hmac(key: Uint8Array<ArrayBuffer>, use: 'sign' | 'verify'): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, [use])
}
