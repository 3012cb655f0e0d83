/** What the contract of webhooks says of the store. */

import { handlerOn } from '../contracts/webhooks/service.ts'
import { webhooksContract } from '../contracts/webhooks.ts'
import { late } from './served.ts'

webhooksContract(late(handlerOn))
