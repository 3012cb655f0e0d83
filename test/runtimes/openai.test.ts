import { leavingCases } from '../contracts/openai/leaving.ts'
import { tellingCases } from '../contracts/openai/telling.ts'
import { openaiContract } from '../contracts/openai.ts'
import { served } from '../contracts/served.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

everywhere(
  deploymentsOf('openai'),
  (deploy, name) => openaiContract(deploy, name === 'Node, in memory' ? 100 : undefined),
  deploy => {
    const server = served(() => deploy('usual'))
    tellingCases(server)
    leavingCases(server)
  },
)
