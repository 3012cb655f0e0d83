/** What the contract of webhooks says of the store. */

import { webhooksHandler, webhooksOptions } from '../contracts/webhooks/service.ts'
import { webhooksContract } from '../contracts/webhooks.ts'
import { late } from './served.ts'

webhooksContract(late({ options: webhooksOptions, handler: webhooksHandler }))
