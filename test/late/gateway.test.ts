import { describe } from 'vitest'
import { handlerOn } from '../contracts/gateway/service.ts'
import { gatewayStateContract } from '../contracts/gateway.ts'
import { late } from './served.ts'

describe('the event socket over a store that answers late', () => gatewayStateContract(late(handlerOn)))
