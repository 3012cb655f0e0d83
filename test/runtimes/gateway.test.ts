import { gatewayConnectionContract, gatewayContract, gatewayStateContract } from '../contracts/gateway.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('gateway'), gatewayContract, gatewayConnectionContract, {
  stored: gatewayStateContract,
})
