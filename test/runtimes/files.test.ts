import { filesContract, filesStateContract } from '../contracts/files.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(
  deploymentsOf('files'),
  // A store of one's own knows no database.
  (deploy, name) => (name === 'Node, in SQLite' ? filesStateContract : filesContract)(deploy),
  filesStateContract,
)
