/** What the contract of queue says of the store. */

import { queueHandler, queueOptions } from '../contracts/queue/service.ts'
import { queueContract } from '../contracts/queue.ts'
import { late } from './served.ts'

queueContract(late({ options: queueOptions, handler: queueHandler }))
