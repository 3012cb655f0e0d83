import { adminContract } from '../contracts/admin.ts'
import { ELSEWHERE } from '../tags.ts'
import { adminDeployments } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = adminDeployments()

adminContract('Node, in memory', () => nodeInMemory(''))
adminContract('Node, in SQLite', () => node(''), ELSEWHERE)
adminContract('Bun, in SQLite', () => bun(''), ELSEWHERE)
adminContract('Deno, in SQLite', () => deno(''), ELSEWHERE)
adminContract('workerd, in Durable Objects', () => workerd(''), ELSEWHERE)
