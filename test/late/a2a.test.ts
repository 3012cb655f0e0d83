/** What the contract of A2A says of the store. What it says of cards and envelopes knows no store. */
import { describe } from 'vitest'
import { handlerOn } from '../contracts/a2a/service.ts'
import { a2aStateContract } from '../contracts/a2a.ts'
import { late } from './served.ts'

describe('tasks over a store that answers late', () => a2aStateContract(late(handlerOn)))
