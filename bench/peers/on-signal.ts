/** Preloaded by each server: collects garbage when a signal asks for it, and ends in order, so that a profile is written. */

import process from 'node:process'
import { collect } from '../servers/socket-gc.ts'

process.on('SIGUSR2', () => console.log(collect()))
process.on('SIGTERM', () => process.exit())
