import { handlerOn } from '../contracts/files/service.ts'
import { filesStateContract } from '../contracts/files.ts'
import { late } from './served.ts'

filesStateContract(late(handlerOn))
