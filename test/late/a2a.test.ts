import { a2aHandler, a2aOptions } from '../contracts/a2a/service.ts'
import { a2aContract } from '../contracts/a2a.ts'
import { late } from './served.ts'

a2aContract(late({ options: a2aOptions, handler: a2aHandler }))
