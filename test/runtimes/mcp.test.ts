import { CONNECTIONS } from '../contracts/connections.ts'
import { mcpContract } from '../contracts/mcp.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('mcp'), mcpContract, deploy => CONNECTIONS.mcp(deploy))
