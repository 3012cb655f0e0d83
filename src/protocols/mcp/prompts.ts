/**
 * Prompts: messages that a person picks in a client (MCP, prompts).
 *
 * @module
 */

import * as v from 'valibot'
import { checkOptions, func } from '../../base/schemas.ts'
import { isObject } from '../../base/validation.ts'
import { showsForms } from './asking.ts'
import { askedBy, completed, NamedSchema, PRIVATE, page } from './part.ts'
import type { Asked, Completes, McpPart, McpRequest, Named } from './request.ts'
import { type Fields, INVALID_PARAMS, RpcError } from './rpc.ts'

/** An argument of a prompt. */
export interface PromptArgument {
  readonly description?: string | undefined
  /** Default: false. */
  readonly required?: boolean | undefined
  /** Completes its value: 100 texts at most. */
  readonly complete?: Completes | undefined
}

/** A message of a prompt. `content` is text, or a block of MCP. */
export interface PromptMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string | Readonly<Record<string, unknown>>
}

/** Who picks a prompt. */
export interface PromptAsked extends Asked {
  /** The values of its arguments. */
  readonly arguments: Readonly<Record<string, string>>
  /** What a person has answered, by the keys of `ask`. */
  readonly answers: Readonly<Record<string, unknown>>
}

/** What a prompt gives: text of the user, messages, or questions to a person first. Clients of 2026-07-28 show them. */
export type PromptResult =
  | string
  | readonly PromptMessage[]
  | { readonly ask: Readonly<Record<string, { readonly message: string; readonly schema: object }>> }

/** A prompt. */
export interface McpPrompt extends Omit<Named, 'name'> {
  readonly arguments?: Readonly<Record<string, PromptArgument>> | undefined
  get(asked: PromptAsked): PromptResult | Promise<PromptResult>
}

const ArgumentSchema = v.strictObject({
  description: v.optional(v.string()),
  required: v.optional(v.boolean()),
  complete: v.optional(func),
})

const { name: _, ...NAMED } = NamedSchema

const OptionsSchema = v.record(
  v.pipe(
    v.string(),
    v.regex(/^[\w./-]{1,128}$/, 'must have 1 to 128 characters of A-Z, a-z, 0-9, _, ., / and -'),
  ),
  v.strictObject({ ...NAMED, arguments: v.optional(v.record(v.string(), ArgumentSchema)), get: func }),
)

/** Most examples of one agent. */
const MAX_EXAMPLES = 20

/** Most characters of all arguments. */
const MAX_ARGUMENTS = 65_536

/**
 * Offers prompts: those that are given, and the `examples` of the offered agents. Throws `invalid_options`.
 *
 * @example
 * mcp({ tools: true, prompts: mcpPrompts({ review: { arguments: { code: { required: true } }, get: ({ arguments: { code } }) => `Review:\n${code}` } }) })
 */
export function mcpPrompts(prompts: Readonly<Record<string, McpPrompt>> = {}): McpPart {
  checkOptions('mcpPrompts', OptionsSchema, prompts)
  const named = new Map(Object.entries(prompts))
  const all = ({ offer }: Parameters<McpPart['methods'][string]>[1]): ReadonlyMap<string, McpPrompt> => {
    const examples = offer.own().flatMap(({ name, target }) => {
      const { examples } = Object(target.servable) as { readonly examples?: unknown }
      const texts = Array.isArray(examples) ? examples.filter(each => typeof each === 'string') : []
      return texts
        .slice(0, MAX_EXAMPLES)
        .map((text, at): [string, McpPrompt] => [
          `${name}-${at + 1}`,
          { title: text.slice(0, 60), description: `An example for ${name}`, get: () => text },
        ])
    })
    return new Map([...examples, ...named])
  }
  const find = (parts: Parameters<McpPart['methods'][string]>[1], name: unknown): McpPrompt => {
    const prompt = typeof name === 'string' ? all(parts).get(name) : undefined
    if (prompt !== undefined) return prompt
    throw new RpcError(INVALID_PARAMS, `There is no prompt named \`${String(name).slice(0, 100)}\``, 200)
  }
  return {
    capabilities: { prompts: { listChanged: true } },
    completes: Object.values(prompts).some(({ arguments: args = {} }) =>
      Object.values(args).some(({ complete }) => complete !== undefined),
    ),
    methods: {
      'prompts/list': (rpc, parts) => ({
        ...page(
          'prompts',
          Array.from(all(parts), ([name, prompt]) => shown(name, prompt)),
          rpc,
        ),
        ...PRIVATE,
      }),
      async 'prompts/get'(rpc, parts) {
        const { name, inputResponses } = rpc.params
        const prompt = find(parts, name)
        const given = argumentsOf(prompt, rpc.params.arguments)
        const asked = { ...askedBy(rpc), arguments: given, answers: answersIn(inputResponses) }
        const result = await prompt.get(asked)
        if (typeof result === 'object' && 'ask' in result) return questions(result.ask, rpc)
        const messages = typeof result === 'string' ? [{ role: 'user' as const, content: result }] : result
        return { description: prompt.description, messages: messages.map(messageOf) }
      },
    },
    async complete(rpc, { type, name }, parts) {
      if (type !== 'ref/prompt') return undefined
      const { arguments: args = {} } = find(parts, name)
      const completes = Object.entries(args).flatMap(([key, { complete }]) =>
        complete ? [[key, complete]] : [],
      )
      return completed(rpc, Object.fromEntries(completes))
    },
    watched: {
      lists: {
        promptsListChanged: (_, parts) => Array.from(all(parts), ([name, prompt]) => shown(name, prompt)),
      },
    },
  }
}

function shown(name: string, { title, description, icons, arguments: args = {} }: McpPrompt): object {
  return {
    ...{ name, title, description, icons },
    arguments: Object.entries(args).map(([key, { description: what, required }]) => ({
      ...{ name: key, description: what, required },
    })),
  }
}

/** Checks the arguments of a client. */
function argumentsOf({ arguments: args = {} }: McpPrompt, given: unknown = {}): Record<string, string> {
  const fail = (what: string) => new RpcError(INVALID_PARAMS, what, 200)
  if (!isObject(given)) throw fail('`arguments` must be an object')
  const known = Object.entries(given).filter(([name]) => Object.hasOwn(args, name))
  const wrong = known.find(([, value]) => typeof value !== 'string')
  if (wrong) throw fail(`\`arguments.${wrong[0].slice(0, 100)}\` must be text`)
  const texts = known as [string, string][]
  if (texts.reduce((length, [, value]) => length + value.length, 0) > MAX_ARGUMENTS)
    throw fail(`\`arguments\` must have at most ${MAX_ARGUMENTS} characters`)
  const missing = Object.entries(args).find(([name, { required }]) => required && !Object.hasOwn(given, name))
  if (missing) throw fail(`\`arguments.${missing[0]}\` is missing`)
  return Object.fromEntries(texts)
}

function messageOf({ role, content }: PromptMessage): object {
  return { role, content: typeof content === 'string' ? { type: 'text', text: content } : content }
}

/** The accepted answers. Throws an {@link RpcError} if somebody refused. */
function answersIn(responses: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(responses)) return {}
  const accepted = Object.entries(responses).map(([key, response]): [string, unknown] => {
    const { action, content } = Object(response) as Fields
    if (action === 'accept') return [key, content]
    throw new RpcError(INVALID_PARAMS, 'Nobody has answered what the prompt asks', 200)
  })
  return Object.fromEntries(accepted)
}

/** Asks the person first. */
function questions(
  ask: Extract<PromptResult, { ask: unknown }>['ask'],
  { capabilities }: McpRequest,
): object {
  if (capabilities === undefined || !showsForms(capabilities))
    throw new RpcError(
      INVALID_PARAMS,
      'The prompt asks a person: it needs a client of 2026-07-28 with forms',
      200,
    )
  const forms = Object.entries(ask).map(([key, { message, schema }]) => [
    key,
    { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema: schema } },
  ])
  return { resultType: 'input_required', inputRequests: Object.fromEntries(forms) }
}
