/** The example with assistant-ui, whose packages are large. */
import { describe } from 'vitest'
import { assistantUiExample } from '../examples/assistant-ui.ts'

describe('the example with assistant-ui', () => assistantUiExample())
