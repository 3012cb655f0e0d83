/** The picture of the console in the README, light and dark: `node bench/console-pictures.ts` writes it into `docs`. */
import { execFileSync } from 'node:child_process'
import process from 'node:process'
import { launch } from '../test/runtimes/browser.ts'
import { startNode } from '../test/runtimes/harness.ts'

execFileSync(process.execPath, ['.ci/console.ts'])
const server = await startNode('test/contracts/console/service.ts')
const browser = await launch()
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1200, height: 960 } })
    await page.goto(`${server.url}/api/console#/chat/agent/remover`)
    const field = page.getByRole('textbox', { name: 'Message', exact: true })
    await field.fill('Bergen')
    await field.press('Enter')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await page.screenshot({ path: `docs/console-${colorScheme}.png` })
    await page.close()
  }
} finally {
  await browser.close()
  await server.stop()
}
