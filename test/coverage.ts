/**
 * Coverage by V8, of unit tests. Contracts ask servers in processes of their own, which it does not see, and would be slower
 * by a quarter: their project sets `VITEST_UNCOVERED`.
 */
import process from 'node:process'
import v8 from '@vitest/coverage-v8'
import type { CoverageProviderModule } from 'vitest/node'

const { getProvider } = v8
const uncovered: CoverageProviderModule = { getProvider }

// biome-ignore lint/style/noDefaultExport: Vitest asks for it.
export default process.env.VITEST_UNCOVERED === undefined ? v8 : uncovered
