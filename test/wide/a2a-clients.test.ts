/** Stock clients of A2A, which are built on version 0.3 of its SDK, against a service on Node. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, it, vi } from 'vitest'
import { adkCases } from '../contracts/a2a-clients/adk.ts'
import { aiSdkCases } from '../contracts/a2a-clients/ai-sdk.ts'
import { TOKEN } from '../contracts/a2a-clients/client.ts'
import { startService } from '../contracts/a2a-clients/service.ts'
import { strandsCases } from '../contracts/a2a-clients/strands.ts'
import { served } from '../contracts/served.ts'
import type { Adk, AiSdk, Strands } from '../frameworks/a2a-clients/way.ts'
import { type Installed, install } from '../frameworks/served-framework.ts'

/** What `a2a-clients/clients.ts` exports. */
interface Clients {
  readonly strands: Strands
  readonly adk: Adk
  readonly aiSdk: AiSdk
}

let installed: Installed
let clients: Clients
beforeAll(async () => {
  // Some clients print what they hear.
  for (const level of ['log', 'info', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => {})
  installed = await install('a2a-clients', [])
  const module = join(installed.folder, 'test/frameworks/a2a-clients/clients.ts')
  clients = await import(pathToFileURL(module).href)
})
afterAll(async () => {
  vi.restoreAllMocks()
  await installed?.remove()
})

const services = { open: served(() => startService()), locked: served(() => startService(TOKEN)) }

describe('@strands-agents/sdk', () => strandsCases(() => clients.strands, services))

describe('@google/adk', () => adkCases(() => clients.adk, services))

describe('a2a-ai-provider', () => aiSdkCases(() => clients.aiSdk, services))

it('clients have types that fit', () => installed.check())
