/** What the contract of keys says of the store. */

import { keysHandler, keysOptions } from '../contracts/keys/service.ts'
import { keysContract } from '../contracts/keys.ts'
import { late } from './served.ts'

keysContract(late({ options: keysOptions, handler: keysHandler }))
