/**
 * `servable/signing`: signed agent cards. Needs the package `jose`.
 *
 * Begin with `verifier.ts`. May import the form of a card from `a2a`, and `base`.
 *
 * @module
 */

import { FlattenedSign, importJWK, type JWK } from 'jose'
import * as v from 'valibot'
import { ServableError } from '../../base/errors.ts'
import { validate } from '../../base/validation.ts'
import type { AgentCard, CardGeneration, CardSignature } from '../a2a/cards/card-forms.ts'
import type { SignCard } from '../a2a/options.ts'
import { signedPartV1, signedWhole } from './canonical.ts'
import { ASYMMETRIC } from './verifier.ts'

export { type CardVerifierOptions, cardVerifier, type VerifyingKey } from './verifier.ts'
export type { CardSignature, SignCard }

/** A private key as a JSON Web Key (RFC 7517). `kid` and `alg` are required. */
export type SigningKey = JWK & { readonly kid: string; readonly alg: string }

/** Options of a card signer. */
export interface CardSignerOptions {
  /**
   * Private keys, as JWKs or their JSON text. Each of them signs. While you replace a key, give both, so that verifiers accept
   * either.
   */
  readonly keys: SigningKey | string | readonly (SigningKey | string)[]
  /** The address of the public keys (RFC 7515, section 4.1.2). */
  readonly jku?: string
}

/** Signs cards, and has the public keys. */
export interface CardSigner extends SignCard {
  /** The public keys as a JWK Set (RFC 7517, section 5), for the address of `jku`. */
  readonly publicKeys: { readonly keys: readonly JWK[] }
}

const KeySchema = v.looseObject({
  kid: v.pipe(v.string(), v.minLength(1)),
  alg: v.picklist(ASYMMETRIC),
  kty: v.picklist(['EC', 'OKP', 'RSA']),
  d: v.pipe(v.string(), v.minLength(1)),
})

const JkuSchema = v.object({
  jku: v.optional(
    v.pipe(v.string(), v.url('must be a URL'), v.startsWith('https:', 'must begin with https:')),
  ),
})

/** Members of a JWK that are not secret (RFC 7518, section 6). */
const PUBLIC = ['kty', 'kid', 'alg', 'use', 'crv', 'x', 'y', 'n', 'e'] as const

/**
 * Signs cards with JSON Web Signatures (RFC 7515) over their canonical form (RFC 8785; section 8.4 of A2A 1.0). A hybrid
 * card gets two signatures for each key. One covers the members of 1.0, which clients of 1.0 verify. The other covers the
 * whole card. Throws `invalid_options` for a key that cannot sign. The error contains no part of the key.
 *
 * @example
 * createHandler({ a2a: { sign: cardSigner({ keys: env.CARD_KEY }) } })
 */
export function cardSigner({ keys, jku }: CardSignerOptions): CardSigner {
  validate(JkuSchema, { jku }, 'invalid_options', 'cardSigner')
  const given = (Array.isArray(keys) ? keys : [keys]) as readonly (SigningKey | string)[]
  if (given.length === 0) throw wrong('needs at least one key in `keys`')
  const all = given.map(readKey)
  if (new Set(all.map(({ kid }) => kid)).size < all.length) throw wrong('has two keys with the same `kid`')
  // Keys are imported at the first card, because the import takes a while.
  let imported: Promise<readonly Imported[]> | undefined
  const sign = async (card: AgentCard, generation: CardGeneration): Promise<CardSignature[]> => {
    imported ??= Promise.all(all.map(importKey))
    const payloads = PAYLOADS[generation].map(payload => new TextEncoder().encode(payload(card)))
    const signatures: CardSignature[] = []
    for (const { alg, kid, key } of await imported) {
      for (const payload of payloads) {
        const jws = await new FlattenedSign(payload)
          .setProtectedHeader({ alg, kid, typ: 'JOSE', ...(jku !== undefined && { jku }) })
          .sign(key)
        signatures.push({ protected: jws.protected ?? '', signature: jws.signature })
      }
    }
    return signatures
  }
  return Object.assign(sign, { publicKeys: { keys: all.map(publicPart) } })
}

/** The signed content of a card in each form. */
const PAYLOADS: Readonly<Record<CardGeneration, readonly ((card: AgentCard) => string)[]>> = {
  '1.0': [signedPartV1],
  '0.3': [signedWhole],
  hybrid: [signedPartV1, signedWhole],
}

interface Imported {
  readonly alg: string
  readonly kid: string
  readonly key: Awaited<ReturnType<typeof importJWK>>
}

async function importKey(jwk: SigningKey): Promise<Imported> {
  const { alg, kid } = jwk
  try {
    return { alg, kid, key: await importJWK(jwk, alg) }
  } catch {
    // The error is dropped, because it may contain parts of the key.
    throw wrong(`cannot sign with the key \`${kid}\`: is it a complete private key for \`${alg}\`?`)
  }
}

function readKey(given: SigningKey | string, index: number): SigningKey {
  const key = typeof given === 'string' ? parse(given) : given
  if (v.is(KeySchema, key)) return key as SigningKey
  const members = Object(key) as Record<string, unknown>
  const missing = ['kty', 'kid', 'alg', 'd'].filter(name => typeof members[name] !== 'string')
  throw wrong(
    missing.length > 0
      ? `needs a private JWK as \`keys[${index}]\`: it lacks ${missing.map(name => `\`${name}\``).join(', ')}`
      : `needs an \`alg\` of ${ASYMMETRIC.join(', ')} in \`keys[${index}]\``,
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function publicPart(key: SigningKey): JWK {
  return Object.fromEntries(PUBLIC.filter(name => name in key).map(name => [name, key[name]])) as JWK
}

function wrong(what: string): ServableError {
  return new ServableError('invalid_options', `\`cardSigner\` ${what}`)
}
