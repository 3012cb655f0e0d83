/** What the contract of keys says of the store. */

import { handlerOn } from '../contracts/keys/service.ts'
import { keysContract } from '../contracts/keys.ts'
import { late } from './served.ts'

keysContract(late(handlerOn))
