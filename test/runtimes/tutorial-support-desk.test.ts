/** The tutorial about a support desk, step by step. */
import { tutorial } from '../pages/tutorial.ts'

tutorial('start/tutorial-support-desk.md', { example: 'support-desk' })
