import { mcpContract } from '../contracts/mcp.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('mcp'), mcpContract)
