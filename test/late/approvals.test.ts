/** What the contract of approvals says of the store. */

import { approvalsHandler, approvalsOptions } from '../contracts/approvals/service.ts'
import { approvalsContract } from '../contracts/approvals.ts'
import { late } from './served.ts'

approvalsContract(late({ options: approvalsOptions, handler: approvalsHandler }))
