import { base64url, decodeProtectedHeader, flattenedVerify, importJWK, type JWK } from 'jose'
import { ServableError } from '../../base/errors.ts'
import type { AgentCard } from '../a2a/cards/card-forms.ts'
import { membersV1, signedPartV1, signedWhole } from './canonical.ts'

/** A public key as a JSON Web Key (RFC 7517). `kid` and `alg` are required. */
export type VerifyingKey = JWK & { readonly kid: string; readonly alg: string }

/** Options of a card verifier. */
export interface CardVerifierOptions {
  /** The trusted public keys: `publicKeys.keys` of the signer. Keys that a card names itself are never used. */
  readonly keys: readonly VerifyingKey[]
}

/** Most signatures of a card that are checked. */
const MAX_SIGNATURES = 20

/** The parts of a card that a signature may cover, with the part to use then. The largest comes first. */
const COVERED = [
  { payload: signedWhole, used: (card: AgentCard) => card },
  { payload: signedPartV1, used: membersV1 },
] as const

/**
 * Makes the `verify` of a remote agent. It returns the part of a card that a trusted key has signed (section 8.4 of A2A 1.0), and
 * false for a card without such a signature. Throws `invalid_options` for a key without `kid` or `alg`.
 *
 * @example
 * remoteAgent({ url, verify: cardVerifier({ keys: [publicKey] }) })
 */
export function cardVerifier({ keys }: CardVerifierOptions): (card: AgentCard) => Promise<AgentCard | false> {
  if (!Array.isArray(keys) || keys.length === 0) throw wrong('needs at least one key in `keys`')
  for (const [index, key] of keys.entries()) {
    const { kid, alg } = Object(key) as Partial<VerifyingKey>
    if (typeof kid !== 'string' || !ASYMMETRIC.includes(String(alg)))
      throw wrong(
        `needs a public JWK with a \`kid\` and an \`alg\` of ${ASYMMETRIC.join(', ')} as \`keys[${index}]\``,
      )
  }
  return async card => {
    const { signatures } = card
    const named = (Array.isArray(signatures) ? signatures.slice(0, MAX_SIGNATURES) : []).flatMap(signed => {
      const key = keyOf(signed, keys)
      return key === undefined ? [] : [{ signed: signed as Signed, key }]
    })
    for (const { payload, used } of COVERED) {
      const text = base64url.encode(payload(card))
      for (const { signed, key } of named) if (await isValid(signed, text, key)) return used(card)
    }
    return false
  }
}

interface Signed {
  readonly protected: string
  readonly signature: string
}

/** The trusted key that a signature names. */
function keyOf(signature: unknown, keys: readonly VerifyingKey[]): VerifyingKey | undefined {
  const { protected: header, signature: bytes } = Object(signature) as Partial<Signed>
  if (typeof header !== 'string' || typeof bytes !== 'string') return undefined
  try {
    const { kid, alg } = decodeProtectedHeader({ protected: header })
    return keys.find(key => key.kid === kid && key.alg === alg)
  } catch {
    return undefined
  }
}

async function isValid(signed: Signed, payload: string, key: VerifyingKey): Promise<boolean> {
  const { alg } = key
  try {
    const jws = { protected: signed.protected, signature: signed.signature, payload }
    await flattenedVerify(jws, await importJWK(key, alg), { algorithms: [alg] })
    return true
  } catch {
    return false
  }
}

function wrong(what: string): ServableError {
  return new ServableError('invalid_options', `\`cardVerifier\` ${what}`)
}

/** The algorithms of signatures (RFC 7518, section 3.1; RFC 9864): those with a public and a private key. */
export const ASYMMETRIC: readonly string[] = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
]
