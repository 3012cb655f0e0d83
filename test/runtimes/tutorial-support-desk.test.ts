/** The tutorial about a support desk, step by step. */
import { tutorial } from '../pages/tutorial.ts'

tutorial('support-desk')
