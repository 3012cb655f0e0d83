/** What the contract of OpenAI’s interface says of the store. */

import { openaiHandler, openaiOptions } from '../contracts/openai/service.ts'
import { openaiContract } from '../contracts/openai.ts'
import { late } from './served.ts'

openaiContract(late({ options: openaiOptions, handler: openaiHandler }))
