/** What holds of OpenAI's interface, on every store and runtime. */
import type { Deploy } from '../runtimes/deployments.ts'
import { askingCases } from './openai/asking.ts'
import { keepingCases } from './openai/keeping.ts'
import { leavingCases } from './openai/leaving.ts'
import { owningCases } from './openai/owning.ts'
import { tellingCases } from './openai/telling.ts'
import { served } from './served.ts'

/** `depth` is the length of a chain of responses. */
export function openaiContract(deploy: Deploy, depth = 20): void {
  const server = served(() => deploy('usual'))
  tellingCases(server)
  keepingCases(server, depth)
  askingCases(server)
  owningCases(server)
  leavingCases(server)
}
