/** What the contract of OpenAI’s interface says of the store. */

import { handlerOn } from '../contracts/openai/service.ts'
import { openaiContract } from '../contracts/openai.ts'
import { late } from './served.ts'

openaiContract(late(handlerOn))
