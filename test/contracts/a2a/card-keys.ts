/** Keys for tests only. The service signs its cards with them. */
import type { SigningKey } from '../../../src/protocols/signing/index.ts'

export const CARD_KEYS: readonly SigningKey[] = [
  {
    kid: 'curve',
    alg: 'ES256',
    kty: 'EC',
    crv: 'P-256',
    x: 'Q-1ucx-d8GGbrxVljEr1hCHro7oxwXEaYM16yqiV6pk',
    y: 'WnX2py7NMxMIf7aCa3w3KsBrnx1J6ZDGmAg54F5XUkA',
    d: 'q0Bj90Tu6TH80L3ETPDrcafSgx-RW5wCm39N8ldsH-s',
  },
  {
    kid: 'edwards',
    alg: 'EdDSA',
    kty: 'OKP',
    crv: 'Ed25519',
    x: 'UmqaXavyadOvs_KNqubTcOm834og4NgxbG8T0Koscm4',
    d: 'iyYd1GE7JYRGryJXB3boDrhjxt4I5v0GLRUQlK1x4vU',
  },
]
