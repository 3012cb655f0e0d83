/** What the contract of approvals says of the store. */

import { handlerOn } from '../contracts/approvals/service.ts'
import { approvalsContract } from '../contracts/approvals.ts'
import { late } from './served.ts'

approvalsContract(late(handlerOn))
