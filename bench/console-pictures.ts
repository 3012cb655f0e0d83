/**
 * The pictures of the console in the README, light and dark, from `npm run dev` and its offline agents: `node bench/console-pictures.ts`
 * writes them into `docs/run`.
 */
import { execFileSync } from 'node:child_process'
import process from 'node:process'
import type { Page } from 'playwright-core'
import { type Client, createClient } from '../src/client/index.ts'
import { launch } from '../test/runtimes/browser.ts'
import { startWrangler } from '../test/runtimes/harness.ts'

const SIZE = { width: 1280, height: 800 }

/** What the agents are asked, so that there is something to see. */
const ASKED: readonly (readonly [kind: 'agent' | 'team' | 'workflow', name: string, input: string])[] = [
  ['agent', 'calculator', 'What is 3 * (4 + 5)?'],
  ['agent', 'calculator', '12% of 50'],
  ['agent', 'echo', 'Good morning'],
  ['agent', 'calculator', 'What is the sum of nothing?'],
  ['agent', 'summarizer', 'Ships sail. They sail far. Some come back. Nobody counts them.'],
  ['agent', 'tailor', 'A silk shirt'],
  ['agent', 'caterer', 'A dinner for 8'],
  ['team', 'desk', 'What is 2 ^ 10?'],
]

async function ask(client: Client): Promise<void> {
  for (const [kind, name, input] of ASKED) {
    const { id } = await client.runs.start({ kind, name }, input)
    await client.runs.result(id).catch(() => {})
  }
}

/** The places of the pictures, and what shows that they are there. */
const PLACES: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  console: async page => {
    await page.getByRole('heading', { name: 'Newest failures' }).waitFor()
    await page.getByText('wants').first().waitFor()
  },
  'console-run': async page => {
    await page.locator('.side').getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('link', { name: 'What is 2 ^ 10?' }).click()
    await page.getByRole('list', { name: 'Timeline' }).waitFor()
  },
}

execFileSync(process.execPath, ['.ci/console.ts'])
const server = await startWrangler()
const browser = await launch()
try {
  await ask(createClient({ baseUrl: `${server.url}/api` }))
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme, viewport: SIZE })
    await page.goto(`${server.url}/api/console`)
    for (const [name, isThere] of Object.entries(PLACES)) {
      await isThere(page)
      await page.screenshot({ path: `docs/run/${name}-${colorScheme}.png` })
    }
    await page.close()
  }
} finally {
  await browser.close()
  await server.stop()
}
