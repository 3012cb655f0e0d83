/** What the contract of budgets says of the store. */

import { handlerOn } from '../contracts/budgets/service.ts'
import { budgetsContract } from '../contracts/budgets.ts'
import { late } from './served.ts'

budgetsContract(late(handlerOn))
