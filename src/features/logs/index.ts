/**
 * Logs for people, for each run, and for audits.
 *
 * @module
 */

export type { Log, LogEntry } from '../../http/log.ts'
export { type AuditEntry, auditLog, type LogPluginOptions, runLog } from './plugins.ts'
export { type PrettyLogOptions, prettyLog } from './pretty.ts'
