import { gatewayHandler, gatewayOptions } from '../contracts/gateway/service.ts'
import { gatewayContract } from '../contracts/gateway.ts'
import { late } from './served.ts'

gatewayContract(late({ options: gatewayOptions, handler: gatewayHandler }))
