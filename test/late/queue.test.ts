/** What the contract of queue says of the store. */

import { handlerOn } from '../contracts/queue/service.ts'
import { queueContract } from '../contracts/queue.ts'
import { late } from './served.ts'

queueContract(late(handlerOn))
