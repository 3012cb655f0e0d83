/** The tutorial about research, step by step: a process is killed, and its run goes on. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tutorial } from '../pages/tutorial.ts'

/** While there is this file, the second source is slow. */
const HOLD = 'hold'

const WAIT = 'await new Promise(resolve => setTimeout(resolve, SLOW_MS))'

tutorial('start/tutorial-research.md', {
  example: 'research',
  // Not a time, but the test says how long a source takes. In the test of the page itself the clock does.
  change: text =>
    text.replace(
      WAIT,
      `const { existsSync } = await import('node:fs')
  if (process.env.NODE_TEST_CONTEXT) ${WAIT}
  while (name.includes('2') && existsSync('${HOLD}')) await new Promise(resolve => setTimeout(resolve, 20))`,
    ),
  async before(command, folder) {
    if (command.includes('respond-async')) await writeFile(join(folder, HOLD), '')
    if (command.startsWith('npx servable dev')) await rm(join(folder, HOLD), { force: true })
  },
})
