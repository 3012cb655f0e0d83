/** What the contract of sessions says of the store. */

import { sessionsHandler, sessionsOptions } from '../contracts/sessions/service.ts'
import { sessionsContract } from '../contracts/sessions.ts'
import { late } from './served.ts'

sessionsContract(late({ options: sessionsOptions, handler: sessionsHandler }))
