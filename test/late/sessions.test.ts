/** What the contract of sessions says of the store. */

import { handlerOn } from '../contracts/sessions/service.ts'
import { sessionsContract } from '../contracts/sessions.ts'
import { late } from './served.ts'

sessionsContract(late(handlerOn))
