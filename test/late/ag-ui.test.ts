/** What the contract of AG-UI says of the store. */

import { handlerOn } from '../contracts/ag-ui/service.ts'
import { agUiContract } from '../contracts/ag-ui.ts'
import { late } from './served.ts'

agUiContract(late(handlerOn))
