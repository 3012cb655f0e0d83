/**
 * Logs for people, for each run, and for audits.
 *
 * Begin with `plugins.ts` (the log of runs, the audit log); `pretty.ts` writes lines for people. May import `core` and what is
 * below it, and no other feature.
 *
 * @module
 */

export type { Log, LogEntry } from '../../http/log.ts'
export { type AuditEntry, auditLog, type LogPluginOptions, runLog } from './plugins.ts'
export { type PrettyLogOptions, prettyLog } from './pretty.ts'
