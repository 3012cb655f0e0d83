/** Preloaded by each server. It collects garbage on a signal, and ends the process normally so that a profile is written. */

import process from 'node:process'
import { collect } from '../servers/socket-gc.ts'

process.on('SIGUSR2', () => console.log(collect(1)))
process.on('SIGTERM', () => process.exit())
