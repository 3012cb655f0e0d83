/** The definition of a tool server, as a person types it. */
import type { ToolServerDefinition } from '../../src/agents/tool-servers.ts'

/** Fields of the form. Each is text. */
export interface Typed {
  readonly name: string
  readonly transport: ToolServerDefinition['transport']
  readonly url: string
  /** One per line: `name: value`. */
  readonly headers: string
  readonly command: string
  /** One per line. */
  readonly args: string
  /** One per line: `NAME=value`. */
  readonly env: string
  readonly autoConnect: boolean
  /** Empty for none, `*` for all, or names separated by commas. */
  readonly needsApproval: string
}

/** The definition, without empty fields and without those that its transport does not use. */
export function definitionOf(typed: Typed): ToolServerDefinition {
  const { name, transport, autoConnect } = typed
  const headers = pairsIn(typed.headers, ':')
  const env = pairsIn(typed.env, '=')
  const args = linesIn(typed.args)
  const approvals = typed.needsApproval
    .split(',')
    .map(each => each.trim())
    .filter(Boolean)
  const reached =
    transport === 'stdio'
      ? {
          command: typed.command.trim(),
          ...(args.length > 0 && { args }),
          ...(Object.keys(env).length > 0 && { env }),
        }
      : { url: typed.url.trim(), ...(Object.keys(headers).length > 0 && { headers }) }
  return {
    name: name.trim(),
    transport,
    autoConnect,
    ...reached,
    ...(approvals.length > 0 && { needsApproval: approvals.includes('*') ? true : approvals }),
  }
}

function linesIn(text: string): string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)
}

/** A line without the separator is a name without a value. */
function pairsIn(text: string, sign: string): Record<string, string> {
  const pairs = linesIn(text).map(line => {
    const at = line.indexOf(sign)
    return at === -1 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
  })
  return Object.fromEntries(pairs)
}
