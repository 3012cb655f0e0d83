/** The page about agents of two companies, step by step. */
import { tutorial } from '../pages/tutorial.ts'

tutorial('connect/a2a-between-companies.md')
