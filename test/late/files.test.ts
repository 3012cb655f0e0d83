/** What the contract of files says of the store. */

import { filesHandler, filesOptions } from '../contracts/files/service.ts'
import { filesContract } from '../contracts/files.ts'
import { late } from './served.ts'

filesContract(late({ options: filesOptions, handler: filesHandler }))
