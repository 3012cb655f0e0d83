/** The definition of a tool server, as a person types it. */
import type { ToolServerDefinition } from '../../src/agents/tool-servers.ts'
import { textIn, textsIn, wordsIn } from '../parts/typed.ts'

/** The definition in a form. Empty fields are left out. */
export function definitionOf(fields: FormData): ToolServerDefinition {
  const approvals = textsIn(fields, 'needsApproval', ',')
  const given = {
    url: textIn(fields, 'url'),
    headers: pairsIn(fields, 'headers', ':'),
    command: textIn(fields, 'command'),
    args: textsIn(fields, 'args', '\n'),
    env: pairsIn(fields, 'env', '='),
    needsApproval: approvals.includes('*') || approvals,
    auth: authIn(fields),
    ...(fields.has('elicitation') && { elicitation: 'ask' }),
  }
  const filled = Object.entries(given).filter(([, value]) => value === true || Object.keys(value).length > 0)
  return {
    name: textIn(fields, 'name'),
    transport: textIn(fields, 'transport') as ToolServerDefinition['transport'],
    autoConnect: fields.has('autoConnect'),
    ...Object.fromEntries(filled),
  }
}

/** How the service gets tokens. Empty if it sends headers alone. */
function authIn(fields: FormData): object {
  const type = textIn(fields, 'auth.type')
  if (type === '') return {}
  const given = {
    clientId: textIn(fields, 'auth.clientId'),
    clientSecret: textIn(fields, 'auth.clientSecret'),
    issuer: textIn(fields, 'auth.issuer'),
    scopes: wordsIn(fields, 'auth.scopes'),
  }
  return { type, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value.length > 0)) }
}

/** Pairs, one on each line. A line without the separator is a name without a value. */
function pairsIn(fields: FormData, name: string, sign: string): Record<string, string> {
  const pairs = textsIn(fields, name, '\n').map(line => {
    const at = line.indexOf(sign)
    return at === -1 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
  })
  return Object.fromEntries(pairs)
}
