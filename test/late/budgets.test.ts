/** What the contract of budgets says of the store. */

import { budgetsHandler, budgetsOptions } from '../contracts/budgets/service.ts'
import { budgetsContract } from '../contracts/budgets.ts'
import { late } from './served.ts'

budgetsContract(late({ options: budgetsOptions, handler: budgetsHandler }))
