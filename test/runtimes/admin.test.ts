import { adminContract } from '../contracts/admin.ts'
import { deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('admin', {
  denoAllow: ['--allow-run'],
  // To find programs, and to start them with what they need.
  denoNames: [
    'OSTYPE',
    'PATHEXT',
    'HOME',
    'LOGNAME',
    'PATH',
    'SHELL',
    'TERM',
    'USER',
    'NODE_*',
    'NPM_*',
    'DENO_*',
    'LD_*',
  ],
})

adminContract('Node, in memory', () => nodeInMemory(''))
adminContract('Node, in SQLite', () => node(''))
adminContract('Bun, in SQLite', () => bun(''))
adminContract('Deno, in SQLite', () => deno(''))
adminContract('workerd, in Durable Objects', () => workerd(''))
