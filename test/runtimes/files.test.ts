import { describe } from 'vitest'
import { filesContract, filesStateContract } from '../contracts/files.ts'
import { ELSEWHERE } from '../tags.ts'
import { deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('files')

describe('Node, in memory', () => filesContract(nodeInMemory))
describe('workerd, in Durable Objects', ELSEWHERE, () => filesContract(workerd))

// A store of one's own knows no database.
const databases = { 'Node, in SQLite': node, 'Bun, in SQLite': bun, 'Deno, in SQLite': deno }

describe.each(Object.entries(databases))('%s', ELSEWHERE, (_, deploy) => filesStateContract(deploy))
