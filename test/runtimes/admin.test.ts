import { adminContract } from '../contracts/admin.ts'
import { adminDeployments } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = adminDeployments()

adminContract('Node, in memory', () => nodeInMemory(''))
adminContract('Node, in SQLite', () => node(''))
adminContract('Bun, in SQLite', () => bun(''))
adminContract('Deno, in SQLite', () => deno(''))
adminContract('workerd, in Durable Objects', () => workerd(''))
