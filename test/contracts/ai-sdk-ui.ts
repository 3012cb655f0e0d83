/** What holds of chats on every store and runtime: with the oldest and the newest client, and in this process with each. */
import { describe } from 'vitest'
import type { Deploy } from '../runtimes/deployments.ts'
import { answeringCases } from './ai-sdk-ui/answering.ts'
import { approvalCases, clientToolCases, questionCases } from './ai-sdk-ui/asking.ts'
import { CLIENTS, type Client } from './ai-sdk-ui/clients.ts'
import { leavingCases, resumingCases } from './ai-sdk-ui/leaving.ts'
import type { Server } from './ai-sdk-ui/page.ts'
import { served } from './served.ts'

/** The oldest and the newest. */
const ENDS = CLIENTS.filter((_, at) => at === 0 || at === CLIENTS.length - 1)

export function aiSdkUiContract(deploy: Deploy): void {
  describe('chats', () => {
    const server = served(() => deploy('leave'))
    for (const client of ENDS) {
      describe(`with ${client.version}`, () => {
        answeringCases(client, server)
        askingCases(client, server)
        leavingCases(client, server)
      })
    }
  })
  describe('chats that resume', () => {
    const server = served(() => deploy('resume'))
    for (const client of ENDS) {
      describe(`with ${client.version}`, () => {
        resumingCases(client, server)
        askingCases(client, server)
      })
    }
  })
}

/** What a runtime may break of it: answers and streams of the newest client, and clients that leave. */
export function aiSdkUiConnectionContract(deploy: Deploy): void {
  const server = served(() => deploy('leave'))
  for (const client of ENDS.slice(-1)) {
    describe(`chats with ${client.version}`, () => {
      answeringCases(client, server)
      leavingCases(client, server)
    })
  }
}

/** What the version of a client can be asked. */
export function askingCases(client: Client, server: Server): void {
  if (client.approves) approvalCases(client, server)
  questionCases(client, server)
  clientToolCases(client, server)
}
