import { langGraphContract } from '../contracts/langgraph-api.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(deploymentsOf('langgraph-api'), langGraphContract)
