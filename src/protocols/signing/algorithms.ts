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
