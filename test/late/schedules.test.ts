/** What the contract of schedules says of the store. */

import { handlerOn } from '../contracts/schedules/service.ts'
import { schedulesContract } from '../contracts/schedules.ts'
import { late } from './served.ts'

schedulesContract(late(handlerOn))
