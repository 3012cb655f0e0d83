// Loaded before a server's entry. Node writes its compile cache when it exits by itself, which servers of tests do not.
import { flushCompileCache } from 'node:module'

const LOADED_BY_MS = 1000

setTimeout(flushCompileCache, LOADED_BY_MS).unref()
